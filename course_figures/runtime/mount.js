// Mounts the interactive figures of a page without a kernel and without a server.
//
// A classic script behind linker.js: were it a module, nobody could tell a reader that a page's
// modules cannot be loaded.
(() => {
  /** What anywidget gives a module in JupyterLab: get, set, on, off, save_changes. */
  class Model {
    constructor(initial, kept, keep) {
      this.initial = initial;
      this.values = { ...initial, ...kept };
      this.keep = keep;
      this.handlers = new Map();
      this.changed = new Set();
    }

    get(name) {
      return this.values[name];
    }

    set(name, value) {
      if (Object.is(this.values[name], value)) return;
      this.values[name] = value;
      this.changed.add(name);
    }

    on(event, handler) {
      if (!this.handlers.has(event)) this.handlers.set(event, new Set());
      this.handlers.get(event).add(handler);
    }

    off(event, handler) {
      if (handler) this.handlers.get(event)?.delete(handler);
      else this.handlers.delete(event);
    }

    save_changes() {
      const changed = [...this.changed];
      this.changed.clear();
      for (const name of changed) this.tell(`change:${name}`, this.values[name]);
      if (changed.length) this.tell("change");
      const differs = ([name, value]) => value !== this.initial[name];
      this.keep(Object.fromEntries(Object.entries(this.values).filter(differs)));
    }

    tell(event, value) {
      for (const handler of [...(this.handlers.get(event) ?? [])]) handler(this, value);
    }
  }

  // ---- state that outlives going on to another page and back ------------------------------------

  const fingerprint = (text) => {
    let hash = 0;
    for (let i = 0; i < text.length; i += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
    return hash;
  };

  /** What is kept belongs to this place on this page, and to the state that the page came with. */
  const shelf = (place, text) => {
    const key = `course-figure ${location.pathname} ${place} ${fingerprint(text)}`;
    const how = performance.getEntriesByType("navigation")[0]?.type;
    const came = how === "back_forward" || how === "reload";
    // A browser may refuse storage (private windows, a full store): then nothing is kept.
    const attempt = (action) => {
      try {
        return action();
      } catch {
        return null;
      }
    };
    let late = null;
    return {
      kept: (came && attempt(() => JSON.parse(sessionStorage.getItem(key)))) || {},
      keep(state) {
        late = state;
      },
      write() {
        if (late) attempt(() => sessionStorage.setItem(key, JSON.stringify(late)));
        late = null;
      },
    };
  };

  // ---- state that a link brings ----------------------------------------------------------------

  const isFirst = (place, name) =>
    document.querySelector(`.course-figure-mount[data-course-figure="${name}"]`) === place;

  const isArray = (value) => Array.isArray(value?.shape) && typeof value.base64 === "string";
  const isTexts = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");

  /** What the address says of a figure, as ?averaging.row=3: for the first one of its kind. */
  const fromAddress = (place, name, state) => {
    if (!isFirst(place, name)) return {};
    const asked = new URLSearchParams(location.search);
    const given = {};
    for (const [trait, value] of Object.entries(state)) {
      const text = asked.get(`${name}.${trait}`);
      if (text === null) continue;
      if (typeof value === "string") given[trait] = text;
      else if (typeof value === "number" && Number.isFinite(Number(text)))
        given[trait] = Number(text);
      else if (typeof value === "boolean") given[trait] = text === "true";
      else if (isArray(value) || isTexts(value)) {
        const read = parsed(text);
        if (isArray(value) ? isArray(read) : isTexts(read)) given[trait] = read;
      }
    }
    return given;
  };

  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return null; // of an address, which anybody may have written
    }
  };

  // A trait that is longer, such as the weights of a model, is in no address.
  const LONGEST = 1500;

  /** The address of this page as the figure is now; traits that are too long are left as they were. */
  const addressOf = (name, { initial, values }) => {
    const address = new URL(location.href);
    for (const [trait, value] of Object.entries(values)) {
      const key = `${name}.${trait}`;
      address.searchParams.delete(key);
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      if (value !== initial[trait] && text.length <= LONGEST) address.searchParams.set(key, text);
    }
    return address;
  };

  /** A button that puts what one sees into the address, and the address where it can be pasted. */
  const offerLink = (root, name, model) => {
    const link = document.createElement("button");
    link.type = "button";
    link.className = "cf-link";
    link.textContent = "Link to what you see";
    const said = document.createElement("span");
    said.setAttribute("role", "status");
    link.addEventListener("click", async () => {
      const address = addressOf(name, model);
      history.replaceState(null, "", address);
      const copied = await navigator.clipboard?.writeText(address.href).then(
        () => true,
        () => false, // the browser keeps it from pages: the address has it anyway
      );
      said.textContent = copied ? " Copied." : " It is in the address now.";
    });
    root.querySelector(".cf-hints").append(" ", link, said);
  };

  const mount = async (place, index) => {
    const text = place.querySelector('script[type="application/json"]').textContent;
    const still = place.querySelector(".course-figure-still");
    const live = document.createElement("div");
    try {
      const { module: name, title, state } = JSON.parse(text);
      const { default: figure } = await courseFigures.load(`${name}.js`);
      const store = shelf(index, text);
      addEventListener("pagehide", store.write);
      place.append(live);
      // Until it is drawn it has its width and no height: the still picture stays in its place.
      live.className = "course-figure-arriving";
      const brought = { ...fromAddress(place, name, state), ...store.kept };
      const model = new Model(state, brought, store.keep);
      await figure.render({ model, el: live });
      place.figureModel = model;
      live.firstElementChild.setAttribute("aria-label", title);
      if (isFirst(place, name)) offerLink(live.firstElementChild, name, model);
      live.className = "";
      still.remove();
      place.dataset.mounted = "";
    } catch (error) {
      live.remove();
      const note = document.createElement("p");
      note.className = "course-figure-note";
      note.setAttribute("role", "alert");
      note.textContent =
        "This figure could not be made to answer " +
        `(${error.message}). Its still picture is here; reload the page to try again.`;
      still.after(note);
    }
  };

  // ---- words that light up what they speak of --------------------------------------------------

  /** The figure that words speak of: of its kind, the last one before them, or else the first. */
  const figureOf = (words) => {
    const kind = `.course-figure-mount[data-course-figure="${words.dataset.figure}"]`;
    const places = [...document.querySelectorAll(kind)];
    const follows = (place) =>
      place.compareDocumentPosition(words) & Node.DOCUMENT_POSITION_FOLLOWING;
    return places.filter(follows).at(-1) ?? places[0];
  };

  /** What a screen reader says of such words; a hidden element may still describe others. */
  const explain = () => {
    const note = document.createElement("span");
    note.id = "figure-cell-note";
    note.hidden = true;
    note.textContent = "lights up in the figure; Enter brings that into sight";
    document.body.append(note);
    return note.id;
  };

  /** The words that each figure is lit by; of several, those that came last count. */
  const speaking = new Map();

  const light = (figure, words, holds) => {
    const all = (speaking.get(figure) ?? []).filter((other) => other !== words);
    if (holds) all.push(words);
    speaking.set(figure, all);
    const last = all.at(-1)?.dataset;
    const detail = last ? { row: last.row, column: last.column } : null;
    figure.dispatchEvent(new CustomEvent("course-figure-highlight", { detail }));
  };

  /** Make a button of some words: until now they were no more than words. */
  const connect = (words, note) => {
    const figure = figureOf(words)?.querySelector(".course-figure");
    if (!figure) return; // it could not be made to answer: the words stay words
    const button = document.createElement("button");
    button.type = "button";
    button.className = words.className;
    Object.assign(button.dataset, words.dataset);
    button.setAttribute("aria-describedby", note);
    button.append(...words.childNodes);
    words.replaceWith(button);
    const reasons = new Set();
    const because = (reason, holds) => {
      const before = reasons.size;
      if (holds) reasons.add(reason);
      else reasons.delete(reason);
      if (!before !== !reasons.size) light(figure, button, reasons.size > 0);
    };
    // A finger only touches: what it lights stays lit, by the focus, until the next tap.
    const pointing = ({ pointerType }) => pointerType !== "touch";
    button.addEventListener("pointerenter", (event) => because("pointed at", pointing(event)));
    button.addEventListener("pointerleave", () => because("pointed at", false));
    button.addEventListener("focus", () => because("focused", true));
    button.addEventListener("blur", () => because("focused", false));
    // Whether a finger is on words that it has lit before.
    let again = false;
    button.addEventListener("pointerdown", (event) => {
      again = !pointing(event) && document.activeElement === button;
    });
    button.addEventListener("click", () => {
      if (again) {
        again = false;
        button.blur();
        return;
      }
      button.focus({ preventScroll: true }); // where a tap does not
      figure.querySelector(".cf-highlight").scrollIntoView({ block: "nearest" });
    });
  };

  /** One after the other: no frame has two figures to build. */
  const start = async () => {
    for (const [index, place] of document.querySelectorAll(".course-figure-mount").entries())
      await mount(place, index);
    const all = document.querySelectorAll(".figure-cell");
    const note = all.length ? explain() : "";
    for (const words of all) connect(words, note);
  };
  if (document.readyState === "complete") start();
  else addEventListener("DOMContentLoaded", start);
})();
