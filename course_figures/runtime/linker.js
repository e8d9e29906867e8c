// Gives the browser texts as ES modules, over `file://` too, where it loads no module from a file.
//
// A classic script: it stands first in a page's scripts, and in the one module that JupyterLab
// gets. Every module arrives as a text, cut at the places of its imports; it is imported from a
// blob in which these places hold the addresses of the blobs that it needs. So a module that
// several figures import is there once, with a scope of its own.
// biome-ignore lint/correctness/noUnusedVariables: the scripts that stand behind this one use it
const courseFigures = (() => {
  const texts = new Map();
  const addresses = new Map();

  const address = (name) => {
    if (!texts.has(name)) throw new Error(`the page has no module ${name}`);
    if (!addresses.has(name)) {
      const linked = texts.get(name).map((part, i) => (i % 2 ? address(part) : part));
      const blob = new Blob(linked, { type: "text/javascript" });
      addresses.set(name, URL.createObjectURL(blob));
    }
    return addresses.get(name);
  };

  return {
    /** Take the text of a module; every second part is not text but the name of a module. */
    register(name, ...parts) {
      texts.set(name, parts);
    },
    /** What a module exports, as a promise. */
    async load(name) {
      return import(address(name));
    },
    /** Let the texts go; for who has loaded all that is wanted. */
    release() {
      for (const one of addresses.values()) URL.revokeObjectURL(one);
      addresses.clear();
      texts.clear();
    },
  };
})();
