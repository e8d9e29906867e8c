// Notes in the gutter: what a term means and which work is cited, beside the line that is pointed at
// or has the focus. The words are the title of the link (see book/_ext/gutter_notes.py); where there
// is no gutter, or no script, the browser shows them as it shows titles.

(() => {
  "use strict";

  const LINKS = "a.reference[title][href*='#term-'], a.reference[title][href*='references.html#']";
  const LEAST = 170; // pixels of a gutter in which a note can be read
  const APART = 20; // pixels between text and note
  const PATIENCE = 300; // milliseconds in which a pointer gets from a link to its note

  const article = document.querySelector(".bd-article");
  const text = article?.querySelector("section > p");
  if (!text) return;

  const note = document.createElement("div");
  note.className = "gutter-note";
  note.setAttribute("role", "note");
  note.hidden = true;
  article.append(note);
  let shown = null; // the link whose words it holds
  let going = 0;

  /** Left and right of the gutter beside a link; null where there is none. */
  const gutter = (link) => {
    const left = text.getBoundingClientRect().left + widthOfText() + APART;
    const right = article.getBoundingClientRect().right;
    return right - left >= LEAST && link.getBoundingClientRect().right < left ? [left, right] : null;
  };
  const widthOfText = () => {
    const most = Number.parseFloat(getComputedStyle(text).maxWidth);
    return most || text.getBoundingClientRect().width;
  };

  const hide = () => {
    clearTimeout(going);
    if (shown && !shown.title) shown.title = note.dataset.words;
    shown = null;
    note.hidden = true;
  };

  const show = (link) => {
    clearTimeout(going);
    if (shown === link) return;
    hide();
    const room = gutter(link);
    if (!room) return;
    shown = link;
    note.dataset.words = link.title;
    const term = link.hash.startsWith("#term-") ? document.createElement("b") : "";
    if (term) term.textContent = `${link.textContent}: `;
    note.replaceChildren(term, link.title);
    note.hidden = false;
    const [left, right] = room;
    const origin = note.offsetParent.getBoundingClientRect();
    note.style.left = `${left - origin.left}px`;
    note.style.width = `${right - left}px`;
    note.style.top = `${link.getBoundingClientRect().top - origin.top}px`;
  };

  const leave = () => {
    clearTimeout(going);
    going = setTimeout(() => {
      if (shown && shown !== document.activeElement) hide();
    }, PATIENCE);
  };

  const linkOf = (event) => (event.target instanceof Element ? event.target.closest(LINKS) : null);
  article.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    if (note.contains(event.target)) clearTimeout(going);
    const link = linkOf(event);
    if (!link) return;
    show(link);
    // The browser would show the same words a second time.
    if (shown === link) link.removeAttribute("title");
  });
  article.addEventListener("pointerout", (event) => {
    if (event.target === shown || shown?.contains(event.target) || note.contains(event.target))
      leave();
  });
  article.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) show(link);
  });
  article.addEventListener("focusout", (event) => {
    if (event.target === shown) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  addEventListener("resize", hide);
})();
