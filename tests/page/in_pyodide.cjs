// Judges answers in Pyodide itself, under Node: node in_pyodide.cjs FOLDER TESTS 04:0:generate:1 …
// A row that is a file of TESTS/page, such as products.py, is run.
// FOLDER holds what a page loads. Times in milliseconds go to stderr, one step a line.
const fs = require("node:fs");
const path = require("node:path");

async function main() {
  const [folder, tests, ...rows] = process.argv.slice(2);
  const { loadPyodide } = require(path.join(folder, "pyodide.js"));
  let begun = Date.now();
  const step = (name) => {
    console.error(JSON.stringify({ step: name, ms: Date.now() - begun }));
    begun = Date.now();
  };
  const python = await loadPyodide({ indexURL: `${folder}/` });
  step("python");
  await python.loadPackage("numpy", { messageCallback() {} });
  step("numpy");
  const archive = new Uint8Array(fs.readFileSync(path.join(folder, "course.zip")));
  python.unpackArchive(archive, "zip", { extractDir: "/course" });
  python.runPython("import sys; sys.path.insert(0, '/course')");
  step("archive");
  const { kernel } = await import(path.join(tests, "..", "course_page", "kernel.js"));
  python.registerJsModule("course_kernel", { made: kernel(python) });
  python.runPython("import torch");
  step("torch");
  python.runPython("from course_page import session; session.ready('05')");
  step("ready");
  python.mountNodeFS("/tests", tests);
  python.runPython("sys.path[1:1] = ['/tests/tasks', '/tests/page']; import verdicts");
  for (const row of rows) {
    if (row.endsWith(".py")) {
      python.runPython(fs.readFileSync(path.join(tests, "page", row), "utf8"));
      continue;
    }
    const words = JSON.stringify(row.split(":"));
    python.runPython(`verdicts.main(*${words})`);
  }
}

main().catch((error) => {
  console.error(String(error).slice(-2000));
  process.exitCode = 1;
});
