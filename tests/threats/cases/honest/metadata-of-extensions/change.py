def change(notebook, given):
    notebook.metadata |= {
        "toc": {"base_numbering": 1, "toc_position": {"height": "1px"}},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {}}},
        "vscode": {"interpreter": {"hash": "x" * 64}},
        "colab": {"provenance": []},
    }
    for cell in notebook.cells:
        cell.metadata |= {"collapsed": False, "tags": ["hide-input"], "slideshow": {}}
