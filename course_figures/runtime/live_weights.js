/**
 * The weights of the live model, in base64: `course_figures.sources` puts the committed file
 * (live_model.safetensors) in this text's place, so that no page has to fetch it.
 */
export const LIVE_WEIGHTS = "";
