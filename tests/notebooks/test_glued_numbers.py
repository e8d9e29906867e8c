"""Numbers that the text quotes from a training: equal but for rounding, on any processor."""

import re

import nbformat
import pytest
from glued_numbers import GLUED, PAGE, roughly_equal, without_rounding
from test_outputs import run


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'51 %'", "'42 %'"),
        ("'8 %'", "'12 %'"),
        ("'99.8 %'", "'100.0 %'"),
        ("'0.04'", "'0.05'"),
        ("'0.00'", "'0.02'"),
        ("'1,003,854'", "'1,003,854'"),
        ("'from 2.38 to 2.41'", "'from 2.40 to 2.44'"),
    ],
)
def test_what_rounding_changes_is_taken_for_equal(one, other):
    assert roughly_equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("'51 %'", "'21 %'"),
        ("'8 %'", "'14 %'"),
        ("'8'", "'12'"),
        ("'0.04'", "'0.09'"),
        ("'2.38'", "'−2.38'"),
        ("'2.38'", "'2.38 nats'"),
        ("'from 2 to 3'", "'from 2'"),
        ("'the'", "'and'"),
    ],
)
def test_other_numbers_and_other_words_are_not(one, other):
    assert not roughly_equal(one, other)


def not_drawn(text):
    """Without what `sanitize.cfg` takes out of a figure's page."""
    return re.sub(r'<svg>.*?</svg>|"base64":"[^"]*"', "", text)


def test_only_glued_values_and_words_of_figures_are_compared_roughly():
    def outputs(kind, text):
        return [{"output_type": "display_data", "data": {kind: text}, "metadata": {}}]

    glued = f"{GLUED}text/plain"
    assert without_rounding(outputs(glued, "51"), outputs(glued, "42"), not_drawn) == outputs(
        glued, "42"
    )
    assert without_rounding(outputs(glued, "51"), outputs(glued, "12"), not_drawn) == outputs(
        glued, "51"
    )
    one, other = (outputs("text/plain", f"Figure: “w” with {n} %.") for n in (22, 26.3))
    assert without_rounding(one, other, not_drawn) == other
    one, other = (
        outputs(PAGE, f'<svg>{n}</svg>“w” with {n} %.<script>{{"base64":"{n}"}}</script>')
        for n in (22, 26.3)
    )
    assert without_rounding(one, other, not_drawn) == other
    printed = outputs("text/plain", "51")
    assert without_rounding(printed, outputs("text/plain", "42"), not_drawn) == printed


@pytest.mark.slow
@pytest.mark.parametrize(("stored", "fails"), [("0.51", False), ("0.1", True)])
def test_nbval_compares_so(tmp_path, stored, fails):
    cell = nbformat.v4.new_code_cell(
        "from myst_nb import glue\nglue('share', 0.47, display=False)",
        execution_count=1,
        outputs=[
            nbformat.v4.new_output(
                "display_data",
                {f"{GLUED}text/plain": stored},
                metadata={"scrapbook": {"mime_prefix": GLUED, "name": "share"}},
            )
        ],
    )
    notebook = tmp_path / "glued.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
    if fails:
        with pytest.raises(pytest.fail.Exception, match="mismatch"):
            run(notebook, "--nbval")
    else:
        run(notebook, "--nbval")
