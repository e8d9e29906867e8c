"""A Sphinx extension: a page loads what it shows, and no more of the theme than that.

The theme brings 1,400 icons to show a dozen, the styles of components that no page of this book
has, and the search index to every page. When all pages are written, this extension knows what they
use: it keeps the rules of each style sheet that can apply to an element, draws the icons that are
named by style alone, and lets no script hold up the first paint. What the theme says in scripts and
templates stays as it is; where an expected line of it is missing, the build fails and says which.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fontTools import subset
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ICONS = "icons.css"
_ICON_SCRIPT = "scripts/fontawesome.js"
_ICON_FONTS = "vendor/fontawesome/webfonts"
_SOLID = "fa-solid-900"

_OURS = ("course.css", "figures/", "math/", "page/", _ICONS)
"""Style sheets that hold nothing to spare, by the beginning of their path."""

_SIZES = ("fa-solid", "fa-brands", "fa-regular", "fa-lg", "fa-fw", "fa-sm")
"""Classes that say how an icon is drawn, not which."""

_SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
"""What only the page of search results needs; the theme's other way to search is switched off."""

# What a scan of a style sheet must not look into, and what it is structured by.
_PIECE = re.compile(
    r"""(?P<comment>/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<brace>[{}])""",
    re.DOTALL,
)
_NAME = re.compile(r"[.#]((?:[\w-]|\\.)+)")
_HOLDS_RULES = re.compile(r"@(media|supports|layer|container)\b")
_ICON_FACE = re.compile(r"@font-face\s*\{[^}]*Font Awesome[^}]*\}", re.DOTALL)
_SOLID_FACE = (
    '@font-face { font-family: "Font Awesome 6 Free"; font-weight: 900; font-display: block; '
    f'src: url(../{_ICON_FONTS}/{_SOLID}.woff) format("woff"); }}'
)
_ATTRIBUTE = re.compile(r"""\b(?:class|id)=\\?(?:"([^"]*)"|'([^']*)')""")
_INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
_HEAD_SCRIPT = re.compile(r'<script src="(?P<address>[^"]+)"></script>')
_EARLY_SCRIPT = re.compile(r'\s*<link rel="preload" as="script"[^>]*>')
_TABS_SCRIPT = re.compile(r"\s*<script[^>]*design-tabs\.js[^>]*></script>")
# The theme's script sets it anew; without scripts, "auto" would match neither kind of page.
_THEME = re.compile(r'(<html\b[^>]*\bdata-theme=)"auto"')
# On a first visit the theme's own script says so late that the page is painted before: without its
# variables, lines have no color and no width, and a dark page is white.
_LATE_THEME = 'dataset.theme = localStorage.getItem("theme") || "auto";'
_EARLY_THEME = """dataset.theme =
      /^(light|dark)$/.exec(document.documentElement.dataset.mode)?.[0] ??
      (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");"""
_CODE = re.compile(r'<div class="highlight">(?P<pre><pre[^>]*>)(?P<code>.*?)</pre>', re.DOTALL)
_STYLE_LINK = re.compile(r'(?P<before>href="(?:\.\./)*_static/)(?P<file>[^"?]+\.css)(\?[^"]*)?"')


class PageWeightError(ExtensionError):
    """The theme is not as this extension knows it."""


def applicable(style: str, names: set[str]) -> str:
    """The rules of a style sheet that can apply to an element of the site.

    Parameters
    ----------
    style : str
        The style sheet.
    names : set of str
        Every class and id that an element has, or that a script may give it.

    Returns
    -------
    str
        Rules of which a selector asks for these names only; rules about elements, variables,
        motion and paper stay. What stands in `:not(…)`, `:is(…)` and the like is not asked for.
        Comments are gone, but for licenses.
    """
    return "".join(_kept(style, names))


def icons(script: str, names: Iterable[str]) -> str:
    """Styles that draw icons, in the color of the text beside them.

    Parameters
    ----------
    script : str
        Font Awesome's script, which holds the shapes.
    names : iterable of str
        Classes such as "fa-bars".

    Returns
    -------
    str
        Whose they are, the rules for all icons, and one for each.

    Raises
    ------
    PageWeightError
        If the script has no solid icon of such a name.
    """
    rules = [
        "/*! Shapes: Font Awesome Free by @fontawesome, https://fontawesome.com, CC BY 4.0 */",
        # The theme would write a letter of a font there.
        ":is(.fa-solid, .fas)::before { content: ''; display: inline-block; height: 1em; "
        "vertical-align: -0.125em; background: currentColor; "
        "mask: var(--icon) center / contain no-repeat; }",
        ":is(.fa-solid, .fas).fa-lg { font-size: 1.25em; line-height: 0.05em; "
        "vertical-align: -0.075em; }",
        # The theme's size for the pictures in the buttons above an article.
        ".bd-header-article .btn :is(.fa-solid, .fas) { font-size: 1.3rem; }",
        "@media (forced-colors: active) { :is(.fa-solid, .fas)::before "
        "{ forced-color-adjust: none; background: CanvasText; } }",
    ]
    for name in sorted(names):
        # The same name may stand for an outline, too: the solid icons come last.
        key = re.escape(name.removeprefix("fa-"))
        shapes = re.findall(
            rf'[{{,]"?{key}"?:\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]', script
        )
        if not shapes:
            raise PageWeightError(f"a page names the icon {name}, which the theme does not have")
        width, height, path = shapes[-1]
        picture = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
            f'<path d="{path}"/></svg>'
        )
        rules.append(
            f".{name}::before {{ width: {int(width) / int(height):.3f}em; "
            f'--icon: url("data:image/svg+xml,{quote(picture, safe=" =:/")}"); }}'
        )
    return "\n".join(rules) + "\n"


def lighten(page: str, *, search: bool = False) -> str:
    """A page without the scripts that it does not need, and with none that holds it up.

    Parameters
    ----------
    page : str
        Its HTML.
    search : bool
        Whether it is the page of search results.

    Returns
    -------
    str
        The same page.

    Raises
    ------
    PageWeightError
        If the script with the theme's icons, or the one that names the theme, is not where it was.
    """
    head, end, body = page.partition("</head>")
    head = _THEME.sub(r'\1"light"', head, count=1)
    head, dropped = re.subn(rf"\s*<script[^>]*{_ICON_SCRIPT}[^>]*></script>", "", head)
    if dropped != 1:
        raise PageWeightError(f"expected one script {_ICON_SCRIPT} in a page's head, not {dropped}")
    if head.count(_LATE_THEME) != 1:
        raise PageWeightError(
            f"expected one {_LATE_THEME!r} in a page's head, not {head.count(_LATE_THEME)}"
        )
    head = head.replace(_LATE_THEME, _EARLY_THEME)

    def later(script: re.Match[str]) -> str:
        address = script["address"]
        if not search and address.partition("?")[0].endswith(_SEARCH):
            return ""
        # Scripts in the page's own text speak to this one while the page is read.
        if "documentation_options.js" in address:
            return script.group()
        return f'<script defer="defer" src="{address}"></script>'

    # They would come before the styles, which the first paint waits for.
    head = _EARLY_SCRIPT.sub("", head)
    if "sd-tab-set" not in body:
        head = _TABS_SCRIPT.sub("", head)
    return _HEAD_SCRIPT.sub(later, head) + end + body


def sized(page: str) -> str:
    """A page whose blocks of code say how many lines they have.

    Parameters
    ----------
    page : str
        Its HTML.

    Returns
    -------
    str
        The same page. A browser skips blocks that are out of sight, and the style sheet computes
        from their lines the room that it leaves for them, so that nothing moves when one is seen.
    """

    def count(block: re.Match[str]) -> str:
        lines = block["code"].rstrip("\n").count("\n") + 1
        return (
            f'<div class="highlight" style="--lines: {lines}">{block["pre"]}{block["code"]}</pre>'
        )

    return _CODE.sub(count, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _add_style)
    app.connect("build-finished", _lighten_all, priority=800)  # when all others wrote their pages
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_style(app: Sphinx) -> None:
    if app.builder.name == "html":
        app.add_css_file(_ICONS)


def _lighten_all(app: Sphinx, error: Exception | None) -> None:
    """Go over the pages that were written, then over what they load."""
    if error is not None or app.builder.name != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    pages = {}
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        # The page at the site's root only leads on, and the theme's own templates lie there, too.
        if _ICON_SCRIPT in text and static not in file.parents:
            pages[file] = sized(lighten(text, search=file.name == "search.html"))
    if not pages:
        raise PageWeightError(f"no page of the site has the theme's script {_ICON_SCRIPT}")
    script = (static / _ICON_SCRIPT).read_text(encoding="utf-8")
    (static / _ICON_SCRIPT).unlink()
    names = _names(pages.values()) | _words(static.rglob("*.js"))
    wanted = {name for name in names if name.startswith("fa-")} - set(_SIZES)
    (static / _ICONS).write_text(icons(script, wanted), encoding="utf-8")
    _slim_styles(static, names)
    _slim_font(static)
    digests = {
        style.relative_to(static).as_posix(): hashlib.sha256(style.read_bytes()).hexdigest()[:8]
        for style in static.rglob("*.css")
    }
    for file, text in pages.items():
        linked = _STYLE_LINK.sub(
            lambda link: f'{link["before"]}{link["file"]}?v={digests[link["file"]]}"', text
        )
        file.write_text(linked, encoding="utf-8")


def _slim_styles(static: Path, names: set[str]) -> None:
    """Keep of each style sheet what can apply; what one imports becomes a part of it."""
    for style in static.rglob("*.css"):
        if style.relative_to(static).as_posix().startswith(_OURS):
            continue
        text = re.sub(
            r'@import "([^"]+)";',
            lambda found, style=style: (style.parent / found[1]).read_text(encoding="utf-8"),
            style.read_text(encoding="utf-8"),
        )
        kept = _ICON_FACE.sub(
            lambda face: _SOLID_FACE if _SOLID in face.group() else "", applicable(text, names)
        )
        style.write_text(kept, encoding="utf-8")


def _slim_font(static: Path) -> None:
    """Keep of the font with icons the few that styles write themselves, as before a warning."""
    written = {
        int(code, 16)
        for style in static.rglob("*.css")
        for code in re.findall(r"\\(f[0-9a-f]{3})\b", style.read_text(encoding="utf-8"))
    }
    fonts = static / _ICON_FONTS
    options = subset.Options(flavor="woff", hinting=False)
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]  # with the copyright and the license
    # Newer releases of the theme bring it compressed alone.
    found = (fonts / f"{_SOLID}{ending}" for ending in (".ttf", ".woff2"))
    with subset.load_font(str(next(one for one in found if one.is_file())), options) as whole:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=sorted(written))
        subsetter.subset(whole)
        for font in fonts.iterdir():
            font.unlink()
        subset.save_font(whole, str(fonts / f"{_SOLID}.woff"), options)


def _names(pages: Iterable[str]) -> set[str]:
    """Classes and ids of a site's elements, and every word of scripts within its pages."""
    names: set[str] = set()
    for page in pages:
        for one in _ATTRIBUTE.finditer(page):
            names.update((one[1] or one[2] or "").split())
        for script in _INLINE_SCRIPT.findall(page):
            names.update(re.findall(r"[\w-]+", script))
    return names


def _words(scripts: Iterable[Path]) -> set[str]:
    """Every word of some scripts: a class that one of them sets is among these."""
    return {
        word
        for script in scripts
        for word in re.findall(r"[\w-]+", script.read_text(encoding="utf-8"))
    }


def _kept(style: str, names: set[str]) -> Iterator[str]:
    for head, body in _rules(style):
        if body is None:  # a license, or a rule without braces such as @charset
            yield head
        elif _HOLDS_RULES.match(head):
            inner = "".join(_kept(body, names))
            if inner:
                yield f"{head}{{{inner}}}\n"
        elif head.startswith("@"):
            yield f"{head}{{{body}}}\n"
        else:
            selectors = [one for one in _selectors(head) if _asks_for(one) <= names]
            if selectors:
                yield f"{','.join(selectors)}{{{body.strip()}}}\n"


def _rules(style: str) -> Iterator[tuple[str, str | None]]:
    """What stands before each outer pair of braces, and within it."""
    depth, begin, opened, head = 0, 0, 0, ""
    for piece in _PIECE.finditer(style):
        if piece["comment"]:
            if depth == 0 and not style[begin : piece.start()].strip():
                if piece["comment"].startswith("/*!"):
                    yield piece["comment"] + "\n", None
                begin = piece.end()
        elif piece["brace"] == "{":
            if depth == 0:
                *before, head = style[begin : piece.start()].split(";")
                yield from ((f"{one.strip()};\n", None) for one in before if one.strip())
                opened = piece.end()
            depth += 1
        elif piece["brace"] == "}":
            depth -= 1
            if depth == 0:
                head = re.sub(r"/\*.*?\*/", "", head, flags=re.DOTALL).strip()
                body = re.sub(r"/\*[^!].*?\*/", "", style[opened : piece.start()], flags=re.DOTALL)
                yield head, body
                begin = piece.end()
            elif depth < 0:
                raise PageWeightError(f"a style sheet closes a brace that it did not open: {head}")


def _selectors(head: str) -> Iterator[str]:
    """The alternatives of a rule's head; a comma within parentheses divides nothing."""
    depth, begin = 0, 0
    for at, character in enumerate(head):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield head[begin:at].strip()
            begin = at + 1
    yield head[begin:].strip()


def _asks_for(selector: str) -> set[str]:
    """Classes and ids that an element must have, or be within something that has them."""
    outside = re.sub(r"\[[^\]]*\]", "", selector)
    while "(" in outside:
        outside, changed = re.subn(r"\([^()]*\)", "", outside)
        if not changed:
            return set()
    return {name.replace("\\", "") for name in _NAME.findall(outside)}
