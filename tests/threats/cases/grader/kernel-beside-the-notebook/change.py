import json


def change(notebook, given):
    planted = str(given.root / "planted.txt")
    kernel = {"argv": ["touch", planted], "display_name": "Python 3", "language": "python"}
    for place in ("kernels/own", ".local/share/jupyter/kernels/own", "share/jupyter/kernels/own"):
        given.extra[f"{place}/kernel.json"] = json.dumps(kernel)
    notebook.metadata["kernelspec"] = {
        "name": "own", "display_name": "Python 3", "language": "python"
    }
