/**
 * The page's side of Python: starts the worker at the first use, gives it one job at a time, and
 * ends it where a job does not end by itself.
 */
import { heldFiles, site, workerText } from "./files.js";

// Seconds that an answer may take, where the course is imported in two, as on an idle laptop. A
// machine that needs longer for that gets more, up to three times as much.
const PATIENCE = 10;
const IMPORTS = 2;

/** Whether a cell, or what stands above it, draws pictures, which need more of Python. */
const draws = ({ before = [], source = "" }) =>
  /\b(matplotlib|plots|plt)\b/.test([...before, source].join("\n"));

/** What a job ends in if it was stopped: by the reader, or because it took too long. */
export class Stopped extends Error {
  constructor(seconds) {
    super(seconds ? `stopped after ${seconds} seconds` : "stopped");
    this.seconds = seconds;
  }
}

export class Python {
  /** The judges of `chapter`, if any, are warmed up; `changed` is called whenever something is to be shown. */
  constructor(chapter, changed) {
    this.chapter = chapter;
    this.changed = changed;
    this.state = "off"; // off, loading, ready
    this.jobs = [];
    this.loaded = 0;
    this.total = 1;
    this.doing = "";
    this.next = 1;
    this.patience = PATIENCE;
  }

  /** The job that runs now, if one does. */
  get running() {
    return this.jobs[0]?.sent ? this.jobs[0] : null;
  }

  /** How much of Python is loaded: from 0 to 1. */
  get share() {
    return Math.min(1, this.loaded / this.total);
  }

  /**
   * Have something done; a promise of the answer. `printed` is told what is printed meanwhile, and
   * `seconds` is how long it may take, if that is more than for an answer.
   */
  ask(kind, task, request, printed = () => {}, seconds = 0) {
    return new Promise((resolve, reject) => {
      this.jobs.push({ job: this.next, kind, task, request, printed, seconds, resolve, reject });
      this.next += 1;
      this.start();
      this.advance();
      this.changed();
    });
  }

  /** Begin to load, if that has not begun. */
  start() {
    if (this.state !== "off") return;
    this.state = "loading";
    this.loaded = 0;
    this.doing = "";
    this.launch().catch((error) => this.fail(error.message));
  }

  async launch() {
    const { folder, scripts, fetched, archive } = site();
    this.total = [...scripts, ...fetched].reduce((sum, { size }) => sum + size, 0);
    const text = await workerText();
    const held = location.protocol === "file:" ? await this.hold(scripts, fetched) : null;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker = worker;
    worker.onmessage = ({ data }) => this.worker === worker && this.take(data);
    worker.onerror = (event) => this.worker === worker && this.fail(event.message || "unknown");
    const names = fetched.map(({ name }) => name);
    const start = { folder, scripts, fetched: names, archive, held };
    this.greet = () => worker.postMessage({ start: { ...start, chapter: this.chapter } });
  }

  async hold(...lists) {
    const held = {};
    for (const { name, size } of lists.flat()) {
      held[name] = await heldFiles(name);
      this.loaded += size;
      this.changed();
    }
    return held;
  }

  take(message) {
    if (message.printed) {
      const [job] = this.jobs;
      if (job?.job === message.printed.job)
        job.printed(message.printed.text, message.printed.stream);
    } else {
      this.hear(message);
      this.changed();
    }
  }

  hear({ listening, progress, ready, seconds, begun, done, failed, fault }) {
    if (listening) {
      this.greet();
    } else if (progress) {
      this.loaded += progress.bytes ?? 0;
      this.doing = progress.doing ?? this.doing;
    } else if (ready) {
      this.patience = Math.round(PATIENCE * Math.min(3, Math.max(1, seconds / IMPORTS)));
      this.state = "ready";
      this.advance();
    } else if (begun) {
      this.doing = "";
      this.watch(begun.job);
    } else if (done) {
      this.finish(({ resolve }) => resolve(done.answer));
    } else if (failed) {
      this.finish(({ reject }) => reject(new Error(failed.message)));
    } else if (fault) {
      this.fail(fault);
    }
  }

  watch(job) {
    clearTimeout(this.clock);
    const patience = Math.max(this.patience, this.running?.seconds ?? 0);
    this.clock = setTimeout(() => {
      if (this.running?.job === job) this.stop(patience);
    }, 1000 * patience);
  }

  finish(settle) {
    clearTimeout(this.clock);
    settle(this.jobs.shift());
    this.advance();
  }

  advance() {
    const [job] = this.jobs;
    if (this.state !== "ready" || !job || job.sent) return;
    job.sent = true;
    this.send(job).catch((error) => this.finish(({ reject }) => reject(error)));
  }

  async send({ job, kind, task, request }) {
    const { worker } = this;
    const parts = site().pictures;
    const pictures = parts.length > 0 && draws(request.begin ?? request);
    const first = pictures && !this.drawing;
    if (first) this.doing = "Loading what draws pictures (8 MB) …";
    this.changed();
    const held = first && location.protocol === "file:" ? await this.hold(parts) : null;
    this.drawing ||= pictures;
    if (this.worker === worker) worker.postMessage({ job, kind, task, request, pictures, held });
  }

  /** End what runs: that costs the worker, and the next one begins to load at once. */
  stop(seconds = 0) {
    clearTimeout(this.clock);
    const job = this.jobs.shift();
    this.end();
    this.start();
    job?.reject(new Stopped(seconds));
    this.changed();
  }

  /** Take back a job that waits, or end the one that runs. */
  cancel(job) {
    if (this.running === job) {
      this.stop();
      return;
    }
    this.jobs = this.jobs.filter((one) => one !== job);
    job.reject(new Stopped(0));
    this.changed();
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    this.drawing = false;
    this.state = "off";
    for (const job of this.jobs) job.sent = false;
  }

  fail(message) {
    clearTimeout(this.clock);
    this.end();
    const waiting = this.jobs;
    this.jobs = [];
    for (const { reject } of waiting)
      reject(new Error(`Python could not be loaded (${message}). Press again to try once more.`));
    this.changed();
  }
}
