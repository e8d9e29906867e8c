"""Formulas are set when the book is built: as MathML, in a font that has all of their signs."""

import re

import pytest
from fontTools.ttLib import TTFont
from math_markup import FormulaError, characters, font, mathml


def test_formula_becomes_mathml_with_its_structure():
    markup = mathml(r"\frac{q \cdot k}{\sqrt{D}}")
    assert markup.startswith("<math>")
    assert "<mfrac>" in markup
    assert "<msqrt><mi>D</mi></msqrt>" in markup


def test_formula_of_its_own_line_is_a_block():
    assert 'display="block"' in mathml("x", display=True)
    assert "display" not in mathml("x")


@pytest.mark.parametrize("formula", [r"\nosuchcommand x", r"\frac{1}{2", r"{x}}"])
def test_formula_that_cannot_be_set_fails_the_build_and_is_shown(formula):
    with pytest.raises(FormulaError, match=re.escape(repr(formula))):
        mathml(formula)


def test_sized_bracket_with_an_exponent_keeps_its_size():
    """Chromium sizes an operator in a row alone, so the bracket gets a row of its own."""
    assert re.search(
        r'<msup><mrow><mo minsize="[^"]+"[^>]*>\)</mo></mrow>', mathml(r"\Bigl(x\Bigr)^2")
    )


def test_prime_is_as_large_as_its_letter():
    assert "msup" not in mathml("j'")
    assert re.search(r"<mi>j</mi><mo [^>]*>′</mo>", mathml("N_{ij'}"))
    assert "msup" in mathml("j^2")


def test_characters_are_those_that_browsers_draw():
    page = "<p>W not of a formula</p>" + mathml("x + h = 2") + mathml(r"\theta \le \text{at}")
    found = characters(page)
    assert set("+=2≤at") <= found
    assert {"𝑥", "ℎ", "𝜃"} <= found
    assert "W" not in found
    assert "not" not in found


def test_font_has_the_signs_that_are_used_and_few_others(tmp_path):
    file = tmp_path / "math" / "font.woff"
    font(characters(mathml(r"\sum_s e^{S_{ts}}")), file)
    with TTFont(file) as subset:
        known = subset.getBestCmap()
        assert "MATH" in subset
    assert {ord("∑"), ord("𝑒"), ord("√")} <= set(known)
    assert ord("∫") not in known
    assert file.stat().st_size < 60_000


def test_sign_that_the_font_lacks_fails_the_build(tmp_path):
    with pytest.raises(FormulaError, match="no glyph"):
        font({"平"}, tmp_path / "font.woff")
