"""A Sphinx extension: under the title of an exercise page, buttons that lead to its notebook.

Every exercise page offers the notebook as a download, from the site itself. Where `repository.url`
in `_config.yml` is a GitHub address, it also offers to open the notebook in Colab and in Binder.
What the notebook imports comes from there, or else from the archive of the course in the site: a
button leads to it, the downloaded notebook says so in its first cell, and the directive
`get-the-course` says it in a page.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from setup import course_archive

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
        repository on GitHub, which is what both can open without further ado. The last one leads
        to the whole course.
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
    if repository:
        found.append(Button("Clone the course", repository))
    else:
        archive = course_archive.name()
        found.append(Button("Download the course", archive, archive))
    return found


def advice(repository: str = "") -> str:
    """How to get what a notebook imports, as Markdown.

    Parameters
    ----------
    repository : str
        Address of the public repository; empty while there is none.

    Returns
    -------
    str
        For one's own machine and for a hosted notebook such as Colab.
    """
    if repository:
        start = f"`git clone {repository}`"
        installed = f"git+{repository}"
        hosted = "In Colab, run this in a cell at the top, once"
    else:
        archive = course_archive.name()
        start = f"unpack `{archive}`, which *Download the course* on an exercise's page gives you"
        installed = f"./{archive}"
        hosted = f"In Colab, upload `{archive}`, and run this in a cell at the top, once"
    return (
        "The notebooks of exercises import packages of the course. "
        f"On your machine, {start}, and run `make lab` in its folder.\n"
        f"{hosted}:\n\n```ipython\n%pip install {installed}\n```\n"
    )


def with_advice(notebook: dict[str, Any], repository: str = "") -> dict[str, Any]:
    """A notebook whose first cell says how to get what it imports; changed in place.

    Parameters
    ----------
    notebook : dict
        The JSON of a notebook of nbformat 4, which begins with text.
    repository : str
        As `advice` takes it.

    Returns
    -------
    dict
        The same notebook.
    """
    first = notebook["cells"][0]
    text = "".join(first["source"]).rstrip()
    first["source"] = f"{text}\n\n{advice(repository)}".splitlines(keepends=True)
    return notebook


class GetTheCourse(SphinxDirective):
    """Says in a page how to get what a notebook imports."""

    def run(self) -> list[nodes.Node]:
        """The advice as paragraphs."""
        repository = self.config.html_theme_options.get("repository_url") or ""
        holder = nodes.Element()
        lines = StringList(advice(repository).splitlines(), self.env.docname)
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_directive("get-the-course", GetTheCourse)
    app.connect("html-page-context", _insert)
    app.connect("build-finished", _advise)
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


def _advise(app: Sphinx, error: Exception | None) -> None:
    """Let the first cell of every notebook that the site hands out say where its imports are."""
    if error is not None or app.builder.format != "html":
        return
    repository = app.config.html_theme_options.get("repository_url") or ""
    for page in app.env.found_docs:
        file = Path(app.outdir) / "_sources" / f"{page}.ipynb"
        if page.startswith(FOLDERS) and file.is_file():
            source = Path(app.srcdir) / f"{page}.ipynb"  # the copy may have it from a build before
            told = with_advice(json.loads(source.read_text(encoding="utf-8")), repository)
            file.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _link(button: Button, root: str) -> str:
    address = button.address if "://" in button.address else root + button.address
    save = f' download="{html.escape(button.download)}"' if button.download else ""
    return f'<a href="{html.escape(address)}"{save}>{html.escape(button.label)}</a>'
