def change(notebook, given):
    cells = b",".join([b"{}"] * (8 * 2**20 // 3))
    given.content = b'{"cells":[' + cells + b'],"metadata":{},"nbformat":4,"nbformat_minor":5}'
