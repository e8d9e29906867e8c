import nbformat


def change(notebook, given):
    text = nbformat.writes(notebook).replace("\n", "\r\n")
    given.content = b"\xef\xbb\xbf" + text.encode()
