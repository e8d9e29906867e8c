/**
 * Trains beside the page, in a worker, and reports; the page says what to train and how.
 *
 * It says { listening } when it does: what came before would be lost. The page sends { text } or
 * { packed } (deflated, in base64), { begin: { model, seed } },
 * { change: { rate, batch, context, sample } }, { run: true | false } and { steps: count }. It gets
 * { text: { symbols, counted, length } }, { report: { … } }, { broke: { step, rate } } where the
 * loss is no number any more, and { fault: "what went wrong" }.
 */
import { bytesOf } from "./arrays.js";
import { Corpus, TrainingLoop } from "./training_loop.js";

// Milliseconds between two reports.
const REPORT = 250;
// Milliseconds between two validations, each with a sample.
const LOOK = 1000;
// Milliseconds of steps between two looks at what the page has sent.
const BREATH = 40;
// Symbols of a sample, where the page asks for no other number.
const SAMPLE = 160;

let corpus = null;
let loop = null;
let settings = null;
// Steps that may still be taken; Infinity while it runs on.
let limit = 0;
// What was sent is answered in the order in which it came.
let ready = Promise.resolve();
// Of the steps since the last report.
let losses = [];
let reported = 0;
let looked = 0;
// Milliseconds of steps since the last report.
let worked = 0;
// Whether steps are about to be taken.
let queued = false;
const channel = new MessageChannel();
const soon = () => {
  if (queued) return;
  queued = true;
  channel.port2.postMessage(null);
};

const inflated = async (packed) => {
  const stream = new Blob([bytesOf(packed)]).stream();
  return new Response(stream.pipeThrough(new DecompressionStream("deflate"))).text();
};

const report = (look, final = false) => {
  const { context } = settings;
  const mean = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
  const about = { step: loop.steps, loss: losses.length ? mean : null, maps: loop.maps(context) };
  about.speed = worked ? (1000 * losses.length) / worked : null;
  if (look) {
    about.validation = loop.validate(context, final);
    about.exact = final;
    about.sample = loop.write(settings.sample ?? SAMPLE, context, loop.steps);
    about.words = corpus.known(about.sample);
  }
  about.running = limit > 0;
  postMessage({ report: about });
  [losses, worked, reported] = [[], 0, performance.now()];
  if (look) looked = reported;
};

/** Take steps for a short while, and then give the page a chance to say something else. */
const work = () => {
  if (limit <= 0 || loop === null) return;
  const begun = performance.now();
  let now = begun;
  while (limit > 0 && now - begun < BREATH) {
    const loss = loop.step(settings);
    losses.push(loss);
    limit -= 1;
    now = performance.now();
    if (!Number.isFinite(loss)) {
      limit = 0;
      worked += now - begun;
      postMessage({ broke: { step: loop.steps, rate: settings.rate } });
      return;
    }
  }
  worked += now - begun;
  if (limit <= 0) report(true, true);
  else {
    if (now - looked > LOOK) report(true);
    else if (now - reported > REPORT) report(false);
    soon();
  }
};
channel.port1.onmessage = () => {
  queued = false;
  work();
};

const answer = async ({ text, packed, begin, change, run, steps }) => {
  if (packed !== undefined || text !== undefined) {
    corpus = new Corpus(text ?? (await inflated(packed)));
    loop = null;
    const { symbols, counted, train, validation } = corpus;
    postMessage({ text: { symbols, counted, length: train.length + validation.length } });
  }
  if (change) settings = change;
  if (begin) {
    limit = 0;
    loop = new TrainingLoop({ corpus, ...begin });
    losses = [];
    report(true);
  }
  if (run === true || steps) {
    limit = steps ?? Infinity;
    [reported, looked] = [performance.now(), performance.now()];
    soon();
  }
  if (run === false && limit > 0) {
    limit = 0;
    report(true, true);
  }
};

addEventListener("message", ({ data }) => {
  ready = ready.then(() => answer(data)).catch((error) => postMessage({ fault: error.message }));
});
postMessage({ listening: true });
