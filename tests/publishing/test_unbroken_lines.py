"""Lines of the text end where a reader does not stumble."""

import pytest
from docutils import nodes
from unbroken_lines import SHORT, UNBROKEN, keep_together, unbroken

SPACE = "\N{NO-BREAK SPACE}"


def paragraph(*parts):
    """A paragraph as the extension leaves it."""
    whole = nodes.paragraph("", "", *parts)
    keep_together(whole)
    return whole


@pytest.mark.parametrize(
    "text",
    [
        "in 62_% of",
        "2.6_s",
        "268_MB",
        "8,400_×_0.72",
        "at T_=_8",
        "with D_≥_2",
        "C_=_24 and D_=_16",
    ],
)
def test_number_and_what_belongs_to_it_stay_together(text):
    assert unbroken(text.replace("_", " ")) == text.replace("_", SPACE)


@pytest.mark.parametrize("value", ["62%", "87.5%", "1% to 3%"])
def test_pasted_percent_is_written_as_in_the_text(value):
    assert paragraph(nodes.inline("", value)).astext() == value.replace("%", f"{SPACE}%")
    assert paragraph(nodes.literal("", value)).astext() == value  # what a program prints


def test_percent_sign_of_an_address_is_left_alone():
    assert unbroken("https://example.org/chapter%2001") == "https://example.org/chapter%2001"


@pytest.mark.parametrize("text", ["13 models", "5 share it", "a query = a vector", "see 3 × the"])
def test_other_spaces_may_break(text):
    assert unbroken(text) == text


def test_unit_stays_with_a_number_that_is_set_in_another_way():
    made = paragraph(nodes.strong("", "62"), nodes.Text(" % of it"))
    assert made.astext() == f"62{SPACE}% of it"
    made = paragraph(nodes.emphasis("", "word"), nodes.Text(" % of it"))
    assert made.astext() == "word % of it"


def test_formula_keeps_the_punctuation_that_touches_it():
    made = paragraph(nodes.Text("for ("), nodes.math("", "x"), nodes.Text("), and so on"))
    before, whole, after = made
    assert (before, after) == ("for ", " and so on")
    assert whole["classes"] == [UNBROKEN]
    assert [type(one) for one in whole] == [nodes.Text, nodes.math, nodes.Text]
    assert (whole[0], whole[2]) == ("(", "),")
    made = paragraph(nodes.math("", "x"), nodes.Text(" is free"))
    assert isinstance(made[0], nodes.math)


def test_short_code_is_kept_whole_and_its_spaces_stay():
    short, long = "n = 1", "n" * (SHORT + 1)
    made = paragraph(nodes.literal(short, short), nodes.Text(" "), nodes.literal(long, long))
    assert made[0]["classes"] == [UNBROKEN]
    assert made[0].astext() == short
    assert made[2]["classes"] == []


@pytest.mark.parametrize(
    "held", ["(1.35–1.44)", "(2.028 to 2.031)", "(−3 to 4)", "(B, T, C)", "(T,)", "(B·T, 3)"]
)
def test_range_or_shape_in_brackets_is_kept_whole(held):
    before, whole, after = paragraph(nodes.Text(f"1.4 {held} s"))
    assert (before, whole.astext(), after) == ("1.4 ", held, " s")
    assert whole["classes"] == [UNBROKEN]


@pytest.mark.parametrize("text", ["3 to 4", "(3 of 4)", "(see 1–2)", "(Ada, Ben)", "(C)"])
def test_other_brackets_may_break(text):
    assert [type(one) for one in paragraph(nodes.Text(text))] == [nodes.Text]
