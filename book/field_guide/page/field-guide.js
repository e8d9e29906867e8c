// Lets a reader narrow the field guide by words, by symptom and by part. Without this script the
// page is the whole list.

const ALL = "";

function start() {
  const article = document.querySelector("article");
  const groups = [...article.querySelectorAll("section[id^='symptom-']")];
  const byPart = article.querySelector("section#by-part");
  const entries = groups.flatMap((group) => [...group.querySelectorAll(":scope > section")].map(read));
  if (!entries.length) return;

  const form = make("form", { className: "guide-filter", role: "search" });
  form.setAttribute("aria-label", "Filter the entries");
  const words = control(form, "Words", make("input", { type: "search", autocomplete: "off" }));
  words.placeholder = "masked_fill";
  const symptom = control(form, "What you see", choices("Any symptom", symptoms(groups)));
  const part = control(form, "Where", choices("Any part", parts(byPart)));
  const clear = make("button", { type: "button", textContent: "Show all" });
  const count = make("p", { className: "guide-count", role: "status" });
  form.append(clear, count);
  groups[0].before(form);

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const narrowed = Boolean(wanted.length || symptom.value || part.value);
    let shown = 0;
    for (const entry of entries) {
      const fits =
        wanted.every((word) => entry.text.includes(word)) &&
        (!symptom.value || entry.symptoms.includes(symptom.value)) &&
        (!part.value || entry.part === part.value);
      entry.section.hidden = !fits;
      shown += fits;
    }
    for (const group of groups) {
      const empty = !group.querySelector(":scope > section:not([hidden])");
      group.hidden = narrowed && empty;
      for (const also of group.querySelectorAll(":scope > .guide-also")) also.hidden = narrowed;
    }
    byPart.hidden = narrowed;
    clear.disabled = !narrowed;
    count.textContent = narrowed
      ? `${shown} of ${entries.length} entries`
      : `${entries.length} entries`;
  }

  function showAll() {
    form.reset();
    filter();
  }

  // A link to an entry that is filtered out shows it; so does the address of the page.
  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("section[hidden]")) return;
    showAll();
    target.scrollIntoView();
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  clear.addEventListener("click", () => {
    showAll();
    words.focus();
  });
  addEventListener("hashchange", follow);
  article.addEventListener("click", (event) => {
    if (event.target.closest("a[href^='#']")) setTimeout(follow);
  });
  filter();
}

function read(section) {
  const facts = section.querySelector(".guide-facts");
  return {
    section,
    text: section.textContent.toLowerCase(),
    part: [...facts.classList].find((name) => name !== "guide-facts").slice("guide-".length),
    symptoms: [...facts.querySelectorAll("a")].map((link) => anchor(link).slice("symptom-".length)),
  };
}

function symptoms(groups) {
  return groups.map((group) => [
    group.id.slice("symptom-".length),
    heading(group),
  ]);
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
