// What pages do for their readers beyond the theme: panels that close, folds that open, search that
// leads to the place. Everything can be read without it.

(() => {
  "use strict";

  /** Open every fold around an element; an output that waits for a guess is told as by a browser. */
  const unfold = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at instanceof HTMLDetailsElement) at.open = true;
      else if (at.hidden && at.matches(".guessed")) at.dispatchEvent(new Event("beforematch"));
    }
  };

  /** The element that the address names, if it names one of this page. */
  const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));

  // A link may lead into a fold: a check at a chapter's end.
  const show = () => {
    const place = location.hash && named();
    if (!place) return;
    unfold(place);
    place.scrollIntoView();
  };

  // On a phone the contents are a panel over the page: whoever has chosen wants to see the page.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("dialog[open] a[href]");
    link?.closest("dialog").close();
  });

  // The theme leaves the contents where they were on the page before; where one is now may be far
  // from there.
  const showHere = () => {
    const contents = document.getElementById("pst-primary-sidebar");
    const here = [...(contents?.querySelectorAll(".bd-docs-nav a.current") ?? [])].at(-1);
    if (!here) return;
    const [bar, link] = [contents, here].map((one) => one.getBoundingClientRect());
    if (link.top < bar.top || link.bottom > bar.bottom)
      contents.scrollTop += link.top - bar.top - bar.height / 3;
  };

  // What scrolls sideways can be reached with the keyboard. The theme measures code and tables once,
  // maybe before the fonts are there that make them wider.
  const SCROLLS = "div.math, .still-figure, .diagram, pre, .pst-scrollable-table-container"
    .split(", ").map((what) => `.bd-article ${what}`).join(", ");
  // Whether there is more of it to the right is shown by course.css: a phone has no bar to tell.
  // To ask for the width of what is out of sight or in a closed fold lays it out, and to write
  // between two questions lays out the page again: a long page would stand still for seconds.
  const inSight = (region) => region.checkVisibility?.({ contentVisibilityAuto: true }) ?? true;
  const reach = (regions) => {
    const seen = [...regions].filter(inSight).map((region) => ({
      region,
      wide: region.scrollWidth - region.clientWidth,
      high: region.scrollHeight - region.clientHeight,
      gone: region.scrollLeft,
    }));
    for (const { region, wide, high, gone } of seen) {
      region.toggleAttribute("data-goes-on", wide - gone > 1);
      if (wide > 0 || high > 0) region.tabIndex = 0;
      else if (region.tabIndex === 0) region.removeAttribute("tabindex");
    }
  };

  // Behind a root, Chromium leaves the room of the widest root sign that the font has, whichever it
  // draws: the word after a formula would stand too far off. Other browsers leave none.
  const NARROW = 0.05; // em, between what is below a root and what follows
  const closeUpRoots = () => {
    const roots = [...document.querySelectorAll(".bd-article math msqrt")];
    const rooms = roots.map((root) => {
      const [whole, inner] = [root, root.lastElementChild].map((one) => one.getBoundingClientRect());
      return (whole.right - inner.right) / Number.parseFloat(getComputedStyle(root).fontSize);
    });
    for (const [at, room] of rooms.entries())
      if (room > 2 * NARROW) roots[at].style.marginInlineEnd = `${NARROW - room}em`;
  };

  // From the page of search results, the theme marks the words in the page that is opened, a moment
  // after it is read. They may stand far down: the address gets the section of the first of them.
  const land = () => {
    const word = document.querySelector(".bd-article span.highlighted");
    if (!word) return false;
    unfold(word);
    const section = word.closest("section[id]");
    if (section && section !== document.querySelector(".bd-article section[id]")) {
      history.replaceState(null, "", `#${section.id}`);
      section.scrollIntoView();
    }
    keepInSight(word);
    return true;
  };

  // Figures above the word may still be drawn, and move it: until then, or until the reader moves.
  const keepInSight = (word) => {
    const look = () => {
      const { top, bottom } = word.getBoundingClientRect();
      if (top < 0 || bottom > window.innerHeight) word.scrollIntoView({ block: "center" });
    };
    const grown = new ResizeObserver(look);
    grown.observe(document.querySelector(".bd-article"));
    const stop = () => grown.disconnect();
    for (const moved of ["wheel", "touchstart", "pointerdown", "keydown"])
      window.addEventListener(moved, stop, { once: true, passive: true });
    setTimeout(stop, 5000);
    look();
  };

  const waitForMarks = () => {
    const marks = new MutationObserver(() => land() && marks.disconnect());
    marks.observe(document.querySelector(".bd-article"), { childList: true, subtree: true });
  };

  // Without a server a page may not read another one, so results stand there without an excerpt.
  const searchWithoutServer = () => {
    const results = document.getElementById("search-results");
    if (location.protocol !== "file:" || !results) return;
    DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
    const why = document.createElement("p");
    why.className = "search-note";
    why.textContent =
      "You read the book from a folder. Browsers let no page read another one there, so results " +
      "show titles alone; served (make book), they show the sentences, too.";
    results.before(why);
  };

  searchWithoutServer();
  window.addEventListener("hashchange", show);
  document.addEventListener("DOMContentLoaded", show);
  window.addEventListener("load", showHere);
  // The searched words, which the theme takes away when it has marked them. Of a short one it would
  // mark each place in longer words, and a question's words say nothing of what is looked for.
  const ASKED = ["how", "what", "when", "where", "which", "who", "why"];
  const worth = (word) => word.length > 2 && !ASKED.includes(word);
  const searched = localStorage.getItem("sphinx_highlight_terms")?.split(" ").filter(worth).join(" ");
  if (searched) localStorage.setItem("sphinx_highlight_terms", searched);
  else localStorage.removeItem("sphinx_highlight_terms");
  if (searched && !location.hash && document.querySelector(".bd-article")) waitForMarks();
  let waiting;
  const reachAll = () => reach(document.querySelectorAll(SCROLLS));
  const reachSoon = () => {
    reachAll();
    clearTimeout(waiting);
    waiting = setTimeout(reachAll, 600); // the theme measures again half a second after a change
  };
  window.addEventListener("load", reachSoon);
  window.addEventListener("resize", reachSoon);
  const marked = (event) => event.target instanceof Element && event.target.matches(SCROLLS);
  const scrolled = (event) => marked(event) && reach([event.target]);
  document.addEventListener("scroll", scrolled, { capture: true, passive: true });
  document.fonts.ready.then(closeUpRoots).then(reachSoon);
  // What comes into sight has a width from then on.
  const come = new Set();
  const reachWhatCame = () => {
    reach(come);
    come.clear();
  };
  const comes = (region) => {
    if (!come.size) requestAnimationFrame(reachWhatCame);
    come.add(region);
  };
  const sighted = (event) => marked(event) && !event.skipped && comes(event.target);
  document.addEventListener("contentvisibilityautostatechange", sighted, true);
  const opened = (event) => event.target.querySelectorAll(SCROLLS).forEach(comes);
  document.addEventListener("toggle", opened, true);
})();
