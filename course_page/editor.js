/** CodeMirror, set up for the answers of this course. */

// CodeMirror's names of what it reads, and the classes that the page's own code has for it: one
// style sheet colors both, in either theme.
const CLASSES = [
  ["comment", "c1"],
  ["keyword", "k"],
  ["controlKeyword", "k"],
  ["definitionKeyword", "k"],
  ["moduleKeyword", "kn"],
  ["operatorKeyword", "ow"],
  ["string", "s2"],
  ["docString", "sd"],
  ["number", "mi"],
  ["bool", "kc"],
  ["null", "kc"],
  ["self", "bp"],
  ["meta", "nd"],
];

const LOOK = {
  "&": { backgroundColor: "transparent", color: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "inherit", overflowX: "auto" },
  ".cm-content": { padding: "0", caretColor: "currentColor" },
  ".cm-line": { padding: "0" },
};

const colors = ({ highlight, language }) => {
  const { tags, tagHighlighter } = highlight;
  const rules = CLASSES.map(([name, style]) => ({ tag: tags[name], class: style }));
  rules.push({ tag: tags.function(tags.definition(tags.variableName)), class: "nf" });
  rules.push({ tag: tags.definition(tags.className), class: "nc" });
  return language.syntaxHighlighting(tagHighlighter(rules));
};

/** Names of the cell, of the language, and those that stand above the cell. */
const completion = ({ autocomplete, python }, names) => {
  const above = autocomplete.completeFromList(names.map((label) => ({ label, type: "variable" })));
  const outside = (source) => (context) => (context.matchBefore(/\.\w*/) ? null : source(context));
  return autocomplete.autocompletion({
    icons: false,
    selectOnOpen: false, // Enter ends a line; Tab takes the first of the list
    override: [
      outside(python.localCompletionSource),
      outside(python.globalCompletion),
      outside(above),
      autocomplete.completeAnyWord,
    ],
  });
};

/** An editor in the place of a plain field: { element, get, set, focus }. */
export const makeEditor = (parts, { source, selection, label, names, changed, run }) => {
  const { state, view, commands, language, autocomplete, python } = parts;
  const { EditorView, keymap } = view;
  const pressed = () => {
    run();
    return true;
  };
  const take = (target) =>
    autocomplete.completionStatus(target.state) === "active" &&
    (autocomplete.selectedCompletionIndex(target.state) !== null ||
      autocomplete.moveCompletionSelection(true)(target)) &&
    autocomplete.acceptCompletion(target);
  const keys = [
    { key: "Tab", run: take },
    { key: "Mod-Enter", run: pressed },
    { key: "Ctrl-Enter", run: pressed },
    { key: "Shift-Enter", run: pressed },
    ...autocomplete.closeBracketsKeymap,
    ...autocomplete.completionKeymap,
    ...commands.defaultKeymap,
    ...commands.historyKeymap,
    commands.indentWithTab, // Escape, then Tab, leaves the editor
  ];
  const extensions = [
    commands.history(),
    state.EditorState.tabSize.of(4),
    language.indentUnit.of("    "),
    python.python(),
    colors(parts),
    language.bracketMatching(),
    autocomplete.closeBrackets(),
    completion(parts, names),
    keymap.of(keys),
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-description": "Tab indents; Escape, then Tab, leaves the editor",
      spellcheck: "false",
      autocapitalize: "off",
      autocorrect: "off",
    }),
    EditorView.theme(LOOK),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !update.transactions.some((one) => one.annotation(given)))
        changed(update.state.doc.toString());
    }),
  ];
  const given = state.Annotation.define();
  const [anchor, head] = selection;
  const editor = new EditorView({
    state: state.EditorState.create({ doc: source, selection: { anchor, head }, extensions }),
  });
  return {
    element: editor.dom,
    get: () => editor.state.doc.toString(),
    set: (text) =>
      editor.dispatch({
        changes: { from: 0, to: editor.state.doc.length, insert: text },
        annotations: given.of(true),
      }),
    focus: () => editor.focus(),
  };
};
