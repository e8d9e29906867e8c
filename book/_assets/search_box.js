// Results in the search box while one types: sections of the site, from an index that is loaded when
// the box is first used. Where that fails, Enter leads to the theme's page of results as it always did.

globalThis.courseSearch = (() => {
  const BASE = new URL("..", document.currentScript.src); // of the site
  const MOST = 8; // results
  const LANDED = "course-search"; // in the session's storage: what to mark on the page that is opened

  // Words that say nothing of what is looked for; they are neither ranked nor marked.
  const COMMON = new Set(
    (
      "a after am an and any are as at be become becomes been but by can could did do does doesnt " +
      "dont for from get gets had has have how i if in into is isnt it its just like me my no not of " +
      "on one only or our shall should so some such than that the their them then there these they " +
      "this those to too use used using was we were what when where which while who why will with " +
      "without wont would you your"
    ).split(" "),
  );

  // What has several names, each as the words that both sides become.
  const SAME = [
    [/√/g, " sqrt "],
    [/\b(square[ -]?roots?|roots?)\b/g, " sqrt "],
    [/\bwarm[ -]up\b/g, " warmup "],
    [/\b(keys? and values?|key[ -/]values?|k\/v)\b/g, " kv keys values "],
    [/\bnans?\b/g, " nan nan "],
    [/\b(re)?compil(es?|ed|ing|ations?)\b/g, " traced compile "],
    [/\bflatten(s|ed|ing)?\b/g, " flat reshape "],
    [
      /\b(plateau\w*|(not|never|stops?|stopped|doesnt|does not|wont|isnt) (decreas\w*|improv\w*|go(ing)? down|fall(ing)?|learn(ing)?))\b/g,
      " plateau ",
    ],
    [/\b(weight (tying|sharing)|tied weights|tie weights|shar\w+ weights)\b/g, " weightsharing "],
    [/\b(residual connections?|shortcuts?|skip connections?)\b/g, " skipconnection "],
    [/\b(mlp|feed[ -]?forward( network)?|ffn)\b/g, " feedforward "],
    [/\b(multi-?head|multiple heads|several heads|many heads)\b/g, " manyheads heads "],
    [/\b(layer[ -]?norm\w*|rms[ -]?norm\w*)\b/g, " layernorm norm "],
  ];

  const tokenize = (text) =>
    SAME.reduce(
      (words, [names, word]) => words.replace(names, word),
      text.toLowerCase().replace(/['’]/g, ""),
    )
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);

  // Numbers of steps and dimensions are the asker's own.
  const processTerm = (word) => (COMMON.has(word) || /^\d{3,}$/.test(word) ? null : wordStem(word));

  const OPTIONS = {
    fields: ["title", "inside", "words", "text", "code"],
    tokenize,
    processTerm,
    searchOptions: {
      boost: { title: 4, words: 2.5, code: 0.5 },
      prefix: (term, i, terms) => i === terms.length - 1 && term.length > 2, // still being typed
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      weights: { fuzzy: 0.1, prefix: 0.5 },
    },
  };

  // ---- the index --------------------------------------------------------------------------------

  const script = (name) =>
    new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = new URL(`_static/search/${name}`, BASE);
      element.onload = done;
      element.onerror = () => failed(new Error(`${name} could not be loaded`));
      document.head.append(element);
    });

  let loading = null;
  /** The sections and their index, loaded once; MiniSearch takes breaths, so that typing goes on. */
  const load = () => {
    loading ??= (async () => {
      await Promise.all([script("minisearch.js"), script("sections.js")]);
      const sections = courseSections.map(
        ([page, anchor, kind, title, inside, text, code, words], id) => ({
          id,
          page,
          anchor,
          kind,
          title,
          inside,
          text,
          code,
          words,
        }),
      );
      const index = new MiniSearch(OPTIONS);
      await index.addAllAsync(sections, { chunkSize: 20 });
      return { sections, index };
    })();
    return loading;
  };

  /** Sections that answer a question, the best first: { page, anchor, kind, title, … }. */
  const ask = async (question) => {
    const { sections, index } = await load();
    return index
      .search(question)
      .slice(0, MOST)
      .map(({ id }) => sections[id]);
  };

  // ---- what of a text is marked -----------------------------------------------------------------

  /** Stems of a question that are worth a mark: three letters or more, and not common. */
  const marked = (question) =>
    new Set(
      tokenize(question)
        .filter((w) => w.length > 2)
        .map(processTerm)
        .filter(Boolean),
    );

  /** Pieces of a text, [words, whether they are marked]. */
  const pieces = (text, stems) =>
    text
      .split(/([\p{L}\p{N}_]+)/u)
      .filter(Boolean)
      .map((part) => [part, part.length > 2 && stems.has(wordStem(part.toLowerCase()))]);

  /** The sentence of a text with most of the marked words, no longer than two lines. */
  const excerpt = (text, stems) => {
    const sentences = text.match(/[^.!?]+(?:[.!?]+(?!\s)[^.!?]*)*[.!?]*/gu) ?? [text];
    const worth = (sentence) =>
      new Set(
        pieces(sentence, stems)
          .filter(([, on]) => on)
          .map(([w]) => wordStem(w.toLowerCase())),
      ).size;
    const best = sentences.reduce((a, b) => (worth(b) > worth(a) ? b : a));
    return best.trim().slice(0, 180);
  };

  // ---- the box ----------------------------------------------------------------------------------

  const html = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const withMarks = (text, stems) =>
    pieces(text, stems).map(([part, on]) => (on ? html("mark", {}, part) : part));

  let boxes = 0;
  const attach = (form) => {
    const input = form.querySelector("input[name=q]");
    boxes += 1;
    const id = `search-results-${boxes}`;
    const list = html("ul", { id, role: "listbox", "aria-label": "Sections", class: "search-box" });
    const status = html("p", { role: "status", class: "search-box-status" });
    list.hidden = true;
    form.after(list, status);
    for (const [name, value] of Object.entries({
      role: "combobox",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-autocomplete": "list",
    }))
      input.setAttribute(name, value);
    let options = [];
    let chosen = -1;
    let asked = "";

    const choose = (place) => {
      chosen = place;
      for (const [i, option] of options.entries())
        option.setAttribute("aria-selected", String(i === chosen));
      if (chosen < 0) input.removeAttribute("aria-activedescendant");
      else {
        input.setAttribute("aria-activedescendant", options[chosen].id);
        options[chosen].scrollIntoView({ block: "nearest" });
      }
    };
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
    };
    const row = (section, i, stems) => {
      const address = new URL(`${section.page}#${section.anchor}`, BASE);
      const link = html("a", {
        href: address,
        tabindex: "-1",
        role: "option",
        id: `${id}-${i}`,
        "aria-selected": "false",
      });
      link.append(
        html("span", { class: "search-box-kind" }, section.kind),
        html("b", {}, ...withMarks(section.title, stems)),
      );
      if (section.inside !== section.title) link.append(html("small", {}, section.inside));
      const said = excerpt(section.text, stems);
      if (said) link.append(html("span", { class: "search-box-said" }, ...withMarks(said, stems)));
      link.addEventListener("click", () => {
        const note = JSON.stringify({ at: address.href, question: input.value });
        try {
          sessionStorage.setItem(LANDED, note);
        } catch {
          // a browser may refuse storage: nothing is marked then
        }
        input.closest("dialog")?.close();
        if (address.pathname === location.pathname) setTimeout(land);
      });
      return link;
    };
    const show = async () => {
      const question = input.value.trim();
      asked = question;
      if (question.length < 2) {
        close();
        status.textContent = "";
        return;
      }
      let found;
      try {
        found = await ask(question);
      } catch {
        return; // Enter leads to the page of results
      }
      if (asked !== question) return; // typed on meanwhile
      const stems = marked(question);
      options = found.map((section, i) => row(section, i, stems));
      list.replaceChildren(...options.map((one) => html("li", { role: "presentation" }, one)));
      list.hidden = options.length === 0;
      input.setAttribute("aria-expanded", String(!list.hidden));
      status.textContent = options.length
        ? ""
        : "No section has these words. Enter searches every page for them.";
      choose(-1);
    };
    input.addEventListener("focus", () => load().catch(() => {}));
    input.addEventListener("input", show);
    input.addEventListener("keydown", (event) => {
      if (list.hidden) return;
      const steps = { ArrowDown: 1, ArrowUp: -1 };
      if (event.key in steps) {
        event.preventDefault();
        const count = options.length + 1; // with none chosen, which is the field itself
        choose(((chosen + 1 + steps[event.key] + count) % count) - 1);
      } else if (event.key === "Enter" && chosen >= 0) {
        event.preventDefault();
        options[chosen].click();
      }
    });
  };

  // ---- on the page that was opened --------------------------------------------------------------

  /** Mark what was looked for in the section that the address names; gone with the page. */
  const land = () => {
    let note = null;
    try {
      note = JSON.parse(sessionStorage.getItem(LANDED));
      sessionStorage.removeItem(LANDED);
    } catch {
      return;
    }
    if (!note || note.at !== location.href || !globalThis.Highlight) return;
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = place?.closest("section, dt")?.matches("dt")
      ? place.closest("dt").parentElement
      : place?.closest("section");
    if (!section) return;
    const stems = marked(note.question);
    const ranges = [];
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      let at = 0;
      for (const [part, on] of pieces(node.data, stems)) {
        if (on) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + part.length);
          ranges.push(range);
        }
        at += part.length;
      }
    }
    CSS.highlights.set("course-search", new Highlight(...ranges));
  };

  for (const form of document.querySelectorAll("form.bd-search")) attach(form);
  if (document.readyState === "complete") land();
  else addEventListener("load", land);
  return { ask, marked };
})();
