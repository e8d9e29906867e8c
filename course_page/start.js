// Stands behind the modules of a page, within one function with the linker: begins when the page is
// read, and says at once what will be there.
// biome-ignore lint/correctness/noUnusedVariables: the script that the build makes calls it
const startPage = (entry) => {
  const read = new Promise((resolve) => {
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", resolve);
    else resolve();
  });
  const ready = read
    .then(() => courseFigures.load(entry))
    .then(({ begin }) => Object.assign(window.coursePage, begin()))
    .then(() => {});
  ready.catch((error) => {
    delete document.documentElement.dataset.guesses; // outputs that wait for a guess are shown
    const note = document.createElement("p");
    note.className = "cp-note";
    note.setAttribute("role", "alert");
    note.textContent = `Answers cannot be checked in this page (${error.message}); reload it to try again.`;
    document.querySelector(".bd-article h1")?.after(note);
  });
  window.coursePage = { ready };
};
