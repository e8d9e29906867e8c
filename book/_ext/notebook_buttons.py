"""A Sphinx extension: under the title of an exercise page, buttons that lead to its notebook.

Every exercise page offers the notebook as a download, from the site itself. Where `repository.url`
in `_config.yml` is a GitHub address, it also offers to open the notebook in Colab and in Binder.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDERS = ("exercises/", "solutions/")
"""Pages below these folders are notebooks that a reader takes away and works on."""


@dataclass(frozen=True)
class Button:
    """One way to the notebook.

    Attributes
    ----------
    label : str
        What the button says.
    address : str
        Where it leads: relative to the site's root if it has no scheme.
    download : str
        The file's name if the browser should save it, else empty.
    """

    label: str
    address: str
    download: str = ""


def buttons(page: str, repository: str = "", branch: str = "main") -> list[Button]:
    """The buttons of one page.

    Parameters
    ----------
    page : str
        The page's name as Sphinx has it, without a suffix: "exercises/01-averages/01-averages".
    repository : str
        Address of the public repository; empty while there is none.
    branch : str
        The branch to open.

    Returns
    -------
    list of Button
        Empty for a page that is not an exercise or its solution. Colab and Binder only for a
        repository on GitHub, which is what both can open without further ado.
    """
    if not page.startswith(FOLDERS):
        return []
    notebook = f"{page}.ipynb"
    found = [Button("Download the notebook", f"_sources/{notebook}", notebook.rpartition("/")[2])]
    where = urlsplit(repository)
    owner_and_name = where.path.strip("/").removesuffix(".git")
    if where.hostname in ("github.com", "www.github.com") and owner_and_name.count("/") == 1:
        path, ref = quote(notebook), quote(branch, safe="")
        colab = "https://colab.research.google.com/github"
        binder = "https://mybinder.org/v2/gh"
        found += [
            Button("Open in Colab", f"{colab}/{owner_and_name}/blob/{ref}/{path}"),
            Button("Open in Binder", f"{binder}/{owner_and_name}/{ref}?urlpath=lab/tree/{path}"),
        ]
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("html-page-context", _insert)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _insert(app: Sphinx, page: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the row of buttons below the page's title."""
    options = app.config.html_theme_options
    row = buttons(
        page, options.get("repository_url") or "", options.get("repository_branch") or "main"
    )
    if not row or doctree is None:
        return
    links = "".join(_link(button, context["content_root"]) for button in row)
    markup = f'<p class="notebook-buttons">{links}</p>'
    context["body"] = re.sub(
        r"</h1>", lambda match: match.group() + markup, context["body"], count=1
    )


def _link(button: Button, root: str) -> str:
    address = button.address if "://" in button.address else root + button.address
    save = f' download="{html.escape(button.download)}"' if button.download else ""
    return f'<a href="{html.escape(address)}"{save}>{html.escape(button.label)}</a>'
