import nbformat


def change(notebook, given):
    given.content = nbformat.writes(nbformat.convert(notebook, 3), version=3).encode()
