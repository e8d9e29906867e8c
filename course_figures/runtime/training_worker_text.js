/**
 * The script of the worker that trains: `course_figures.sources` puts `training_worker.js`, with
 * all that it imports, in this text's place. A browser starts no worker from a file that a page of
 * `file://` names, but it starts one from a text.
 */
export const TRAINING_WORKER = "";
