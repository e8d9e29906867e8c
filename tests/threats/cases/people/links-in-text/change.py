from nbformat.v4 import new_markdown_cell


def change(notebook, given):
    notebook.cells += [
        new_markdown_cell(text)
        for text in (
            "[x](&#106;avascript:alert(1)) [y]( <javascript:alert(1)>)",
            "[x][there] ![x][there]\n\n> [there]:\n> javascript:alert(1)",
            "[x](data:text/html,<b>) [y](/formgrader) [z](//example.org)",
            "![x](https://example.org/pixel.png) ![y][pixel]\n\n[pixel]: https://example.org/p.png",
            "![pasted](attachment:pasted.png)",
            "~~~ mermaid\ngraph LR\n  A --> B\n  click A \"javascript:alert(1)\"\n~~~",
        )
    ]
