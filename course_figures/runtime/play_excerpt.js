/**
 * The beginning of the course's play, and what is known of it: `course_figures.sources` puts the
 * committed file (play_excerpt.json) in its place, so that no page has to fetch it.
 */
export const PLAY_EXCERPT = null;
