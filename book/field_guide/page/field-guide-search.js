// Ranks entries by the words of a reader. It knows nothing of the page: entries are plain objects.
//
// Both sides become stems: "KV-caches" is "kv", "cach" and, because some write it as one word,
// "kvcach". A stem of the query may be the beginning of one of an entry (it is still being typed),
// or differ from it by a letter or two (it was typed in a hurry), for less.

globalThis.fieldGuideSearch = (() => {
  // How much a word counts by where it stands.
  const WEIGHTS = { words: 6, title: 5, name: 4, symptoms: 2.5, code: 2.5, text: 1 };

  const COMMON = new Set(
    (
      "a an and are as at be but by can do does doesnt for from get gets has have how i if in is it " +
      "its me my of on or so than that the then there this to too very was what when where which " +
      "while why will with wont you your"
    ).split(" "),
  );

  // Words and numbers of a text: 1e-9, -inf and 1/sqrt(d_k) keep what makes them themselves.
  function split(text) {
    return text
      .toLowerCase()
      .replace(/[\u2212\u2013]/g, "-")
      .replace(/['\u2019]/g, "")
      .replace(/\u221e/g, " inf ")
      .replace(/\u221a/g, " sqrt ")
      .replace(/\u03b5/g, " eps ")
      .replace(/[^\p{L}\p{N}.+-]+/gu, " ")
      .split(" ")
      .flatMap((word) =>
        /^[-+]?[\d.]+(e[-+]?\d+)?$/.test(word) ? word.replace(/^[-+]/, "") : word.split(/[.+-]+/),
      )
      .filter(Boolean);
  }

  // Stems of a text, and each pair of neighbors as one word.
  function stems(text) {
    const plain = split(text).filter((word) => !COMMON.has(word));
    const found = plain.map(wordStem);
    const joined = plain.slice(1).map((word, i) => wordStem(plain[i] + word));
    return { found, joined };
  }

  function distance(one, other, most) {
    if (Math.abs(one.length - other.length) > most) return most + 1;
    let [before, row] = [[], Array.from({ length: other.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= one.length; i++) {
      const next = [i];
      for (let j = 1; j <= other.length; j++) {
        const swap = one[i - 1] === other[j - 1] ? 0 : 1;
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + swap);
        const turned = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
        if (turned) next[j] = Math.min(next[j], before[j - 2] + 1);
      }
      [before, row] = [row, next];
    }
    return row[other.length];
  }

  // How well a stem of the query fits one of an entry: 1 is the same, 0 another word.
  function likeness(asked, known) {
    if (asked === known) return 1;
    if (asked.length >= 3 && known.startsWith(asked))
      return 0.6 + 0.3 * (asked.length / known.length);
    if (asked.length < 5 || /\d/.test(asked)) return 0;
    const most = asked.length < 8 ? 1 : 2;
    const off = distance(asked, known, most);
    return off <= most && known.length >= 4 ? 0.75 - 0.15 * off : 0;
  }

  // An index of entries: { name, title, words: [...], symptoms: [...], code, text }.
  function index(entries) {
    const documents = entries.map((entry) => {
      const best = new Map();
      const add = (text, weight) => {
        const { found, joined } = stems(text);
        for (const one of [...found, ...joined])
          if ((best.get(one) ?? 0) < weight) best.set(one, weight);
        return new Set([...found, ...joined]);
      };
      const phrases = [
        ...entry.words.map((one) => add(one, WEIGHTS.words)),
        add(entry.title, WEIGHTS.title),
      ];
      add(entry.name, WEIGHTS.name);
      for (const one of entry.symptoms) add(one, WEIGHTS.symptoms);
      add(entry.code, WEIGHTS.code);
      add(entry.text, WEIGHTS.text);
      return { name: entry.name, best, phrases };
    });
    const frequency = new Map();
    for (const { best } of documents)
      for (const one of best.keys()) frequency.set(one, (frequency.get(one) ?? 0) + 1);
    return { documents, frequency };
  }

  // For one stem of the query: which stems of the index it may mean, and how well.
  function meanings(asked, frequency) {
    const found = [];
    for (const known of frequency.keys()) {
      const value = likeness(asked, known);
      if (value > 0) found.push([known, value]);
    }
    // A word that is there as it was typed is not taken for another one that is spelled alike.
    return found.some(([, value]) => value === 1)
      ? found.filter(([, value]) => value > 0.6)
      : found;
  }

  // Names of the entries that answer a query, the best first.
  function rank({ documents, frequency }, query) {
    const { found, joined } = stems(query);
    const asked = found.map((one, i) => {
      // Two words of the query may be one of an entry: "zero grad".
      const pairs = [joined[i - 1], joined[i]].filter((pair) => frequency.has(pair));
      return { one, options: [...meanings(one, frequency), ...pairs.map((pair) => [pair, 1])] };
    });
    if (!asked.length) return [];
    const rarity = (known) => Math.log(1 + documents.length / (frequency.get(known) ?? 1));
    const scored = documents.map((document) => {
      let [score, reached, total] = [0, 0, 0];
      const hits = new Map();
      for (const { one, options } of asked) {
        const worth = Math.max(...options.map(([known]) => rarity(known)), 1.5);
        let value = 0;
        for (const [known, fit] of options) {
          const here = (document.best.get(known) ?? 0) * fit * rarity(known);
          if (here > value) value = here;
          if (document.best.has(known)) hits.set(one, Math.max(hits.get(one) ?? 0, fit));
        }
        score += value;
        total += worth;
        reached += worth * (hits.get(one) ?? 0);
      }
      // A phrase that holds more of the query says more than the same words here and there.
      let together = 0;
      for (const phrase of document.phrases) {
        const inside = asked.filter(({ options }) =>
          options.some(([known, fit]) => fit > 0.6 && phrase.has(known)),
        );
        const covered = inside.length / asked.length;
        if (inside.length > 1 || asked.length === 1)
          together = Math.max(
            together,
            covered * covered * (0.5 + inside.length / Math.max(phrase.size, 1)),
          );
      }
      return {
        name: document.name,
        value: score * (reached / total) ** 2 * (1 + together),
        share: reached / total,
      };
    });
    const top = Math.max(...scored.map((one) => one.value));
    return scored
      .filter((one) => one.value > 0 && one.value >= 0.15 * top && one.share >= 0.34)
      .sort((one, other) => other.value - one.value)
      .map((one) => one.name);
  }

  return { index, rank };
})();
