// Lets a reader find entries of the field guide by words, by symptom and by part, and folds what
// nobody has asked for. Without this script the page is the whole list.

const ALL = "";

function start() {
  const article = document.querySelector("article");
  const groups = [...article.querySelectorAll("section[id^='symptom-']")];
  const byPart = article.querySelector("section#by-part");
  const entries = groups.flatMap((group) =>
    entriesOf(group).map((section) => read(section, group)),
  );
  if (!entries.length) return;
  const named = new Map(entries.map((entry) => [entry.name, entry]));
  const headings = new Map(groups.map((group) => [symptomOf(group), heading(group)]));
  for (const entry of entries) entry.symptomTitles = entry.symptoms.map((one) => headings.get(one));
  const index = fieldGuideSearch.index(entries.map(asDocument));

  const form = make("form", { className: "guide-filter", role: "search" });
  form.setAttribute("aria-label", "Find entries");
  const words = control(form, "Words", make("input", { type: "search", autocomplete: "off" }));
  words.placeholder = "what you see, or a name: rope, loss near zero, -1e9 …";
  const part = control(form, "Where", choices("Any part", parts(byPart)));
  const chips = make("div", { className: "guide-chips", role: "group" });
  chips.setAttribute("aria-label", "What you see");
  const symptoms = groups.map((group) => chip(chips, group, entries));
  const count = make("p", { className: "guide-count", role: "status" });
  const clear = make("button", {
    type: "button",
    textContent: "Show all",
    className: "guide-clear",
  });
  form.append(chips, count, clear);
  article.querySelector("h1").after(form);

  const found = make("section", { className: "guide-found", hidden: true });
  const title = make("h2", { className: "visually-hidden", textContent: "Entries found" });
  form.after(found);
  for (const entry of entries) fold(entry);

  const pressed = () => symptoms.find((one) => one.getAttribute("aria-pressed") === "true")?.value;
  const press = (value) => {
    for (const one of symptoms) one.setAttribute("aria-pressed", String(one.value === value));
  };

  function filter() {
    const query = words.value.trim();
    const ranked = query
      ? fieldGuideSearch.rank(index, query).map((name) => named.get(name))
      : entries;
    const here = ranked.filter((entry) => !part.value || entry.part === part.value);
    const symptom = pressed();
    const fits = here.filter((entry) => !symptom || entry.symptoms.includes(symptom));
    const narrowed = Boolean(query || symptom || part.value);

    // What was asked for stands below the form, the best first; everything else in its group.
    for (const entry of entries) {
      entry.section.hidden = !fits.includes(entry);
      if (!narrowed || entry.section.hidden) entry.group.append(entry.section);
    }
    const advice =
      symptom && groups.find((group) => symptomOf(group) === symptom).querySelector("p");
    if (narrowed) {
      found.replaceChildren(
        title,
        ...(advice ? [advice.cloneNode(true)] : []),
        ...fits.map((entry) => entry.section),
      );
    }
    found.hidden = !narrowed;
    for (const group of groups) group.hidden = narrowed;
    byPart.hidden = narrowed;
    clear.disabled = !narrowed;
    for (const one of symptoms) {
      const number = here.filter((entry) => entry.symptoms.includes(one.value)).length;
      one.querySelector(".guide-number").textContent = number;
      one.disabled = !number && one.value !== symptom;
    }
    count.textContent = narrowed
      ? `${fits.length} of ${entries.length} entries`
      : `${entries.length} entries`;
    if (query && !fits.length) count.textContent += ". Try a single word, or what you see of it.";
  }

  // The address says what is shown, so that it can be handed on.
  function keep() {
    const address = new URL(location.href);
    for (const [key, value] of [
      ["q", words.value.trim()],
      ["see", pressed()],
      ["where", part.value],
    ]) {
      if (value) address.searchParams.set(key, value);
      else address.searchParams.delete(key);
    }
    if (address.hash && !document.getElementById(address.hash.slice(1))?.getClientRects().length)
      address.hash = "";
    history.replaceState(history.state, "", address);
  }

  function change() {
    filter();
    keep();
  }

  function showAll() {
    form.reset();
    press();
    change();
  }

  // A link to an entry unfolds it, and shows it if it was filtered out.
  function follow() {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    if (!target) return;
    const hidden = target.closest("section[hidden]");
    if (hidden) {
      form.reset();
      press();
      filter();
    }
    const entry = named.get(name);
    if (entry) unfold(entry, true);
    if (hidden || entry) target.scrollIntoView();
  }

  const address = new URLSearchParams(location.search);
  words.value = address.get("q") ?? "";
  part.value = address.get("where") ?? ALL;
  if (part.selectedIndex < 0) part.value = ALL;
  press(address.get("see"));

  form.addEventListener("input", change);
  form.addEventListener("submit", (event) => event.preventDefault());
  chips.addEventListener("click", (event) => {
    const one = event.target.closest("button");
    if (!one) return;
    press(one.value === pressed() ? undefined : one.value);
    change();
  });
  clear.addEventListener("click", () => {
    showAll();
    words.focus();
  });
  addEventListener("hashchange", follow);
  article.addEventListener("click", (event) => {
    if (event.target.closest("a[href^='#']")) setTimeout(follow);
  });
  filter();
  follow();
}

// What is below an entry's title and its facts is folded until its title is pressed, a link leads
// to it, or the browser's own search finds a word in it.
function fold(entry) {
  const { section } = entry;
  const title = section.querySelector("h3");
  const body = make("div", { className: "guide-body", id: `${entry.name}-body` });
  body.append(
    ...[...section.children].filter(
      (child) => child !== title && !child.matches(".guide-facts, span"),
    ),
  );
  section.append(body);
  const button = make("button", { type: "button", className: "guide-fold" });
  const link = title.querySelector("a.headerlink");
  button.append(...[...title.childNodes].filter((node) => node !== link));
  button.setAttribute("aria-controls", body.id);
  title.prepend(button);
  Object.assign(entry, { button, body });
  button.addEventListener("click", () => unfold(entry, body.hasAttribute("hidden")));
  body.addEventListener("beforematch", () => unfold(entry, true));
  unfold(entry, false);
}

function unfold({ button, body }, open) {
  button.setAttribute("aria-expanded", String(open));
  if (open) body.removeAttribute("hidden");
  else body.setAttribute("hidden", "until-found");
}

function read(section, group) {
  const facts = section.querySelector(".guide-facts");
  return {
    section,
    group,
    name: section.id,
    part: [...facts.classList].find((name) => name !== "guide-facts").slice("guide-".length),
    links: [...facts.querySelectorAll("a")],
    symptoms: [...facts.querySelectorAll("a")].map((link) => anchor(link).slice("symptom-".length)),
    tags: facts.textContent,
  };
}

// What the search reads of an entry; the page is where it stands.
function asDocument({ section, name, tags, symptomTitles }) {
  const text = (selector) => [...section.querySelectorAll(selector)].map((one) => one.textContent);
  const [words] = text(".guide-words");
  return {
    name,
    title: section.querySelector("h3").textContent,
    words: words.slice(words.indexOf(":") + 1).split("·"),
    symptoms: [...symptomTitles, tags],
    code: text("div.guide-wrong pre, div.guide-right pre").join("\n"),
    text: text(":scope > p:not(.guide-words, .guide-facts), div.guide-test pre").join("\n"),
  };
}

function entriesOf(group) {
  return [...group.querySelectorAll(":scope > section")];
}

function symptomOf(group) {
  return group.id.slice("symptom-".length);
}

function parts(byPart) {
  return [...byPart.querySelectorAll(":scope > p")].map((line) => [
    [...line.classList].find((name) => name.startsWith("guide-")).slice("guide-".length),
    line.querySelector("strong").textContent,
  ]);
}

function heading(section) {
  return section.querySelector("h2").firstChild.textContent;
}

function anchor(link) {
  return link.getAttribute("href").split("#")[1];
}

function chip(chips, group, entries) {
  const value = symptomOf(group);
  const link = entries.flatMap((entry) => entry.links).find((other) => anchor(other) === group.id);
  const one = make("button", { type: "button", value, className: "guide-chip" });
  one.title = heading(group);
  const number = entries.filter((entry) => entry.symptoms.includes(value)).length;
  const shown = make("span", { className: "guide-number", textContent: number });
  one.append(`${link.textContent} `, shown);
  one.setAttribute("aria-pressed", "false");
  chips.append(one);
  return one;
}

function choices(any, values) {
  const select = make("select");
  for (const [value, textContent] of [[ALL, any], ...values])
    select.append(make("option", { value, textContent }));
  return select;
}

function control(form, text, field) {
  const label = make("label", { textContent: text });
  label.append(field);
  form.append(label);
  return field;
}

function make(tag, properties = {}) {
  return Object.assign(document.createElement(tag), properties);
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
