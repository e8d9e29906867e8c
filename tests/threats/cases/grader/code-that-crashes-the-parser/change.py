from nbformat.v4 import new_code_cell

DEEP = (
    "-" * 90_000 + "1",
    "(" * 180 + ")" * 180,
    "x" + ".a" * 60_000,
    "x" + "[0]" * 40_000,
    "not " * 40_000 + "1",
    "lambda: " * 20_000 + "1",
    "1" + "+1" * 60_000,
    "if 1:\n " + "if 1:pass\n " * 10_000,
    "[" * 150 + "]" * 150,
    "f'" + "{x!r:" * 100 + "}" * 100 + "'",
    "f(" * 190 + ")" * 190,
)


def change(notebook, given):
    notebook.cells += [new_code_cell(source) for source in DEEP]
