/**
 * Where the site keeps what Python and the editor are made of, and how it gets into a page.
 *
 * Nothing of it is asked for before it is needed. A classic script can be loaded over file:// as
 * well, where nothing can be fetched: scripts hand over what they hold to `coursePageFiles`.
 */
import { html } from "../course_figures/runtime/elements.js";
import { bytesOf } from "../course_figures/runtime/arrays.js";

const waiting = new Map();
const arrived = new Map();

/** What the page says of the site: written by the build. */
export const page = () => window.coursePageData;

const address = (path) =>
  new URL(`${document.documentElement.dataset.content_root}_static/page/${path}`, location.href)
    .href;

/** Python's files: scripts that are run, files that are fetched, and the folder they are in. */
export const site = () => ({ ...page().python, folder: address("python/") });

/** What the script `path` hands over, once it is loaded. */
const handedOver = (path) => {
  if (arrived.has(path)) return Promise.resolve(arrived.get(path));
  if (waiting.has(path)) return waiting.get(path).promise;
  const one = {};
  one.promise = new Promise((resolve, reject) => Object.assign(one, { resolve, reject }));
  waiting.set(path, one);
  const script = html("script", { src: address(path) });
  script.onerror = () => {
    waiting.delete(path);
    script.remove();
    one.reject(new Error(`${path} of the site cannot be read`));
  };
  document.head.append(script);
  return one.promise;
};

window.coursePageFiles = (path, value) => {
  const one = waiting.get(path);
  waiting.delete(path);
  arrived.set(path, value);
  one?.resolve(value);
};

/** The worker's script. */
export const workerText = () => handedOver(page().worker);

/** The text that models of the page learn from, and what others reach on it: { packed, reached }. */
export const playText = () => handedOver("play.js");

/** What stands before and after figures in a page of their own: { before, after }. */
export const pageOfFigures = () => handedOver("shown.js");

/** CodeMirror, as its packages export it; null if the site was built without it. */
export const editorParts = async () => (page().editor ? handedOver(page().editor) : null);

/** The bytes of one of Python's files, over file://. */
export const heldFiles = async (name) => {
  const path = `python/${name}.js`;
  const value = await handedOver(path);
  const bytes = typeof value === "string" ? bytesOf(value) : value;
  arrived.set(path, bytes); // a worker that is started again gets them from here
  return bytes;
};
