"""How an output is kept, so that GitHub, nbviewer, VS Code, Colab and the book each show it.

Most viewers of notebooks take an output's HTML if it has any, and strip drawings and scripts out of
it. So a figure has no `text/html`: they find an image, and the book's pages find `PAGE_HTML`, which
no other viewer knows. `book/_ext/page_outputs.py` makes it the HTML of the page.
"""

from __future__ import annotations

PAGE_HTML = "text/vnd.course.page+html"
"""Kind of output that holds what a page of the book shows. What other viewers see stands beside it.
"""

PIXELS = "{{image/png}}"
"""In that HTML, the address of the pixels that stand beside it, so that none is stored twice."""
