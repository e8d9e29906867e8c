"""A Sphinx extension: formulas are set when the book is built, as MathML.

Chromium, Firefox and Safari draw MathML themselves and screen readers read it, so a page needs no
program for its formulas and shows them with its first paint. They are drawn in STIX Two Math, since
many systems have no font with a table for mathematics: the site gets the glyphs that its formulas
use, a twentieth of the whole font.
"""

from __future__ import annotations

import html
import importlib.util
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from fontTools import subset
from math_core import LatexError, LatexToMathML
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

FONT = "math/STIXTwoMath.woff"
"""The font's place below the site's static files."""

_STYLE = "math/math.css"

_CONVERTER = LatexToMathML(fancy_error=False)

# A root draws this sign and no element of MathML holds it, nor the bar above a letter as a font
# has it.
_DRAWN_BY_ELEMENTS = "√\N{COMBINING OVERLINE}"

# Chromium gives an operator the size that TeX's \Big asks for in a row alone, not as a base.
_SIZED_BASE = re.compile(
    r"(<m(?:sub|sup|subsup|under|over|underover)>)(<mo [^>]*minsize=[^>]*>[^<]*</mo>)"
)

# The font's prime is raised already: as an exponent it would be too small to be seen.
_PRIMED = re.compile(r"<msup>(<m[in]>[^<]*</m[in]>)<mo>([′″‴])</mo></msup>")

_FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)


class FormulaError(ExtensionError):
    """A formula cannot be set."""


def mathml(latex: str, *, display: bool = False) -> str:
    """One formula as MathML.

    Parameters
    ----------
    latex : str
        The formula as it stands between the dollars.
    display : bool
        Set it as a block of its own, with large operators.

    Returns
    -------
    str
        A `math` element.

    Raises
    ------
    FormulaError
        If it is not LaTeX, or has a command that is not known; the message shows the formula.
    """
    try:
        markup: str = _CONVERTER.convert_with_local_state(latex.strip(), displaystyle=display)
    except LatexError as error:
        raise FormulaError(f"formula {latex.strip()!r} cannot be set: {error}") from error
    markup = _PRIMED.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', markup)
    return _SIZED_BASE.sub(r"\1<mrow>\2</mrow>", markup)


def characters(page: str) -> set[str]:
    """Every character that the formulas of a page show.

    Parameters
    ----------
    page : str
        A page's HTML.

    Returns
    -------
    set of str
        With the italic form of each variable, which browsers take for an `mi` of one letter.
    """
    shown = set()
    for formula in _FORMULA.findall(page):
        shown |= set(html.unescape(re.sub(r"<[^>]+>", "", formula)))
        for letter in re.findall(r"<mi>([^<&]|&[^;]+;)</mi>", formula):
            shown.add(_italic(html.unescape(letter)))
    return {one for one in shown if one.isprintable() and not one.isspace()}


def font(wanted: set[str], file: Path) -> None:
    """Write the font with the glyphs that some characters need.

    Parameters
    ----------
    wanted : set of str
        Single characters.
    file : Path
        What to write, as WOFF.

    Raises
    ------
    FormulaError
        If the font has no glyph for one of them.
    """
    package = importlib.util.find_spec("ziamath")
    if package is None or package.origin is None:
        raise FormulaError("the package ziamath is missing, which brings the font of formulas")
    source = Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    options = subset.Options(flavor="woff", hinting=False, notdef_outline=True)
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]  # with the copyright and the license
    options.layout_features = ["ssty", "kern", "ccmp", "dtls", "flac"]
    with subset.load_font(str(source), options) as whole:
        codes = {ord(one) for one in wanted | set(_DRAWN_BY_ELEMENTS)}
        known = set(whole.getBestCmap())
        missing = [chr(code) for code in codes - known if not _invisible(chr(code))]
        if missing:
            raise FormulaError(f"the font of formulas has no glyph for {sorted(missing)}")
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=sorted(codes & known))
        subsetter.subset(whole)
        file.parent.mkdir(parents=True, exist_ok=True)
        subset.save_font(whole, str(file), options)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("html-page-context", _add_style)
    app.connect("build-finished", _write_font)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(
        f"{writer.starttag(node, 'span', '', CLASS='math notranslate nohighlight')}"
        f"{mathml(node.astext())}</span>"
    )
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    begin = writer.starttag(node, "div", CLASS="math notranslate nohighlight")
    if node.get("number"):
        number = get_node_equation_number(writer, node)
        begin += f'<span class="eqno">({number})'
        writer.body.append(begin)
        writer.add_permalink_ref(node, "Link to this equation")
        begin = "</span>"
    writer.body.append(f"{begin}{mathml(node.astext(), display=True)}</div>\n")
    raise nodes.SkipNode


def _add_style(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Name the font on pages with a formula, wherever on them it stands."""
    if app.builder.format == "html" and "<math" in context.get("body", "") + context.get("toc", ""):
        app.add_css_file(_STYLE)


def _write_font(app: Sphinx, error: Exception | None) -> None:
    """Give the site the glyphs that its pages use."""
    if error is not None or app.builder.name not in ("html", "dirhtml", "singlehtml", "epub"):
        return
    wanted: set[str] = set()
    for page in Path(app.outdir).rglob(f"*{app.builder.out_suffix}"):
        wanted |= characters(page.read_text(encoding="utf-8"))
    static = Path(app.outdir) / "_static"
    font(wanted, static / FONT)
    name = Path(FONT).name
    (static / _STYLE).write_text(
        '@font-face { font-family: "STIX Two Math"; font-display: swap; '
        f"src: url({name}) format(woff); }}\n"
        'math { font-family: "STIX Two Math", math; }\n',
        encoding="utf-8",
    )


def _italic(letter: str) -> str:
    """The mathematical italic of a Latin or Greek letter; any other character as it is."""
    if letter == "h":
        return "ℎ"  # the Planck constant's sign, which is what the block of italics leaves out
    for first, last, italic in (
        ("A", "Z", 0x1D434),
        ("a", "z", 0x1D44E),
        ("Α", "Ω", 0x1D6E2),
        ("α", "ω", 0x1D6FC),
    ):
        if first <= letter <= last:
            return chr(italic + ord(letter) - ord(first))
    return letter


def _invisible(character: str) -> bool:
    """Whether a character, such as "function application", is never drawn."""
    return unicodedata.category(character) in ("Cf", "Mn")
