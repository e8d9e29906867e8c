def change(notebook, given):
    for number, cell in enumerate(notebook.cells):
        cell.source = cell.source.replace("\n", "\r\n" if number % 2 else "\n")
