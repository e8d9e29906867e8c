def change(notebook, given):
    imports = next(cell for cell in notebook.cells if cell.source.startswith("import "))
    imports.source = f"from google.colab import drive\n{imports.source}\nfrom torch import Tensor"
    answer = next(cell for cell in notebook.cells if cell.source.startswith("def "))
    answer.source = f"Tensor\n{answer.source}"
