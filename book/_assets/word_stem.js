// The stem of an English word, for what ranks words: the search box and the field guide.

globalThis.wordStem = (() => {
  // Endings, longest first; what is left must keep three letters.
  const ENDINGS = "ations ation ings ing ies ied ers ed es er ly s e y".split(" ");

  return (word) => {
    if (word.length < 4 || /\d/.test(word)) return word;
    for (const ending of ENDINGS) {
      if (!word.endsWith(ending) || word.length - ending.length < 3) continue;
      if (ending === "s" && word.endsWith("ss")) continue;
      return word.slice(0, -ending.length).replace(/([bdfgmnprt])\1$/, "$1");
    }
    return word;
  };
})();
