/**
 * Python beside the page: loads Pyodide, NumPy and the course, then checks answers and runs cells.
 *
 * It says { listening } when it does: what came before would be lost. The page sends { start: { folder, names, archive, held, chapter } } and then one
 * { job, kind, task, request, pictures, held } at a time; `pictures` asks for what draws them. It gets { progress: { bytes, doing } } while Python
 * loads, { ready: true, seconds } with what the imports took, { printed: { job, text, stream } }, { done: { job, answer } },
 * { failed: { job, message } } and { fault: message }.
 *
 * `folder` is the address of Python's files. Over file:// the page holds them itself, in `held`,
 * because nothing can be fetched there.
 */

import { kernel } from "./kernel.js";

const COURSE = "/course";
// Characters that one job may print; what comes after them is counted and left out.
const MOST_PRINTED = 100_000;
// Milliseconds between two messages about what is printed.
const BREATH = 50;

let session = null;
// What the page has handed over, over file://.
let files = {};
// Loads a package of Python's that a cell needs.
let packages = null;
// Whether there is what draws pictures.
let drawing = false;

const tell = (message) => postMessage(message);
const nameOf = (resource) =>
  String(resource.url ?? resource)
    .replace(/^.*\//, "")
    .replace(/\?.*$/, "");
const asScript = (bytes) => URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));

/** Count what comes, and let it go on to whom it was meant for. */
const counting = (response) => {
  const copy = response.clone();
  const read = async () => {
    const reader = copy.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      tell({ progress: { bytes: part.value.length } });
  };
  read().catch(() => {}); // who asked for the file is told, too
  return response;
};

/** Files that the page has handed over, as if they had been fetched. */
const answerFrom = (held) => {
  files = held;
  self.fetch = async (resource) => {
    const bytes = files[nameOf(resource)];
    if (!bytes) return new Response(null, { status: 404 });
    const type = nameOf(resource).endsWith(".wasm")
      ? "application/wasm"
      : "application/octet-stream";
    return new Response(bytes, { headers: { "Content-Type": type } });
  };
};

/** Files of the site: all are asked for at once, and each is counted. */
const fetchFrom = (folder, names) => {
  const real = self.fetch.bind(self);
  const ask = async (address) => {
    const response = await real(address);
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    return counting(response);
  };
  const early = new Map(names.map((name) => [name, ask(`${folder}${name}`)]));
  for (const one of early.values()) one.catch(() => {}); // whoever takes it is told
  self.fetch = async (resource, options) => {
    const name = nameOf(resource);
    const asked = early.get(name);
    early.delete(name);
    return asked ?? real(resource, options);
  };
};

const loadScripts = async (folder, names, held) => {
  for (const name of names) {
    importScripts(held ? asScript(held[name]) : `${folder}${name}`);
  }
};

const start = async ({ folder, scripts, fetched, archive, held, chapter }) => {
  if (held) answerFrom(held);
  else fetchFrom(folder, fetched);
  await loadScripts(
    folder,
    scripts.map(({ name }) => name),
    held,
  );
  if (!held) for (const { size } of scripts) tell({ progress: { bytes: size } });
  const python = await self.loadPyodide({ indexURL: folder });
  const course = self.fetch(`${folder}${archive}`).then((response) => response.arrayBuffer());
  tell({ progress: { doing: "Loading NumPy" } });
  await python.loadPackage("numpy", { messageCallback: () => {} });
  tell({ progress: { doing: "Unpacking the course" } });
  python.unpackArchive(await course, "zip", { extractDir: COURSE });
  python.runPython(`import sys; sys.path.insert(0, ${JSON.stringify(COURSE)})`);
  python.registerJsModule("course_kernel", { made: kernel(python) });
  session = python.pyimport("course_page.session");
  const began = performance.now();
  python.pyimport("torch");
  if (chapter) session.ready(chapter);
  packages = async (name) => {
    await python.loadPackage(name, { messageCallback: () => {} });
    python.pyimport(`${name}.pyplot`);
  };
  tell({ ready: true, seconds: (performance.now() - began) / 1000 });
};

/** Prints of one job, sent together: a loop that prints would otherwise fill the page's queue. */
class Prints {
  constructor(job) {
    this.job = job;
    this.parts = [];
    this.room = MOST_PRINTED;
    this.sent = performance.now();
  }

  write(text, stream) {
    const some = text.slice(0, this.room);
    this.room -= some.length;
    const last = this.parts.at(-1);
    if (last?.stream === stream) last.text += some;
    else if (some) this.parts.push({ text: some, stream });
    if (performance.now() - this.sent > BREATH) this.flush();
  }

  flush() {
    this.sent = performance.now();
    for (const part of this.parts.splice(0)) tell({ printed: { job: this.job, ...part } });
  }
}

const work = async ({ job, kind, task, request, pictures, held }) => {
  const prints = new Prints(job);
  const write = (text, stream) => prints.write(text, stream);
  try {
    if (pictures && !drawing) {
      Object.assign(files, held);
      await packages("matplotlib");
      drawing = true;
    }
    tell({ begun: { job } });
    const text = JSON.stringify(request);
    const answer = kind === "run" ? session.run(text, write) : session[kind](task, text, write);
    prints.flush();
    tell({ done: { job, answer: JSON.parse(answer) } });
  } catch (error) {
    prints.flush();
    tell({ failed: { job, message: String(error.message ?? error) } });
  }
};

self.onmessage = async ({ data }) => {
  if (!data.start) {
    await work(data);
    return;
  }
  try {
    await start(data.start);
  } catch (error) {
    tell({ fault: String(error.message ?? error) });
  }
};

tell({ listening: true });
