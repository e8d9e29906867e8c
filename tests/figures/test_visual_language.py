"""One visual language: a query looks like a query in every figure, diagram and page."""

import colorsys
import re

import pytest
from matplotlib.colors import to_hex
from reader import ROOT

from course_lib import plots

FIGURES = ROOT / "course_figures"
DIAGRAMS = sorted((ROOT / "book" / "_assets" / "diagrams").glob("*.svg"))
ROLES = ("query", "key", "value", "score", "weight", "residual")
MARKS = {"query": "●", "key": "■", "value": "▲", "score": "◇", "weight": "◆"}
STYLE = (FIGURES / "runtime" / "figures.css").read_text(encoding="utf-8")
PAGE_STYLE = (ROOT / "book" / "_assets" / "you_are_here.css").read_text(encoding="utf-8")
# Classes that diagrams use for what has a role.
CLASSES = {"q": "query", "k": "key", "v": "value", "s": "score", "w": "weight", "r": "residual"}


def variables(rule):
    return dict(re.findall(r"--(?:cf|course)-([\w-]+):\s*([^;]+);", rule))


def rules(style, selector):
    """The variables of every rule whose selectors hold one."""
    blocks = re.findall(r"([^{}]+)\{([^{}]*)\}", style)
    return [variables(body) for head, body in blocks if selector in head and variables(body)]


def of_figures():
    """Colours by role, on a light and on a dark page."""
    light, *darks = rules(STYLE, ".course-figure-still")
    assert len(darks) == 2  # for a page with a theme, and for one that follows the system
    assert all(value == darks[1][name] for name, value in darks[0].items())
    names = {role: re.fullmatch(r"var\(--cf-(\w+)\)", light[role])[1] for role in ROLES}
    return [{role: page[name] for role, name in names.items()} for page in (light, darks[0])]


def hue(colour):
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 360 * colorsys.rgb_to_hls(red, green, blue)[0]


def apart(one, other):
    """How far two colours are apart on the wheel, in degrees."""
    return abs((hue(one) - hue(other) + 180) % 360 - 180)


def test_roles_have_colours_that_differ_by_day_and_by_night():
    for page in of_figures():
        different = [page[role] for role in ROLES if role != "score"]  # as a weight, but hollow
        assert page["score"] == page["weight"]
        for i, one in enumerate(different):
            assert all(apart(one, other) > 15 for other in different[:i])


def test_pages_have_the_colours_of_the_figures():
    light, dark = (rules(PAGE_STYLE, selector)[0] for selector in ("html", 'data-theme="dark"'))
    for page, figures in zip((light, dark), of_figures(), strict=True):
        shared = set(page) & set(ROLES)
        assert {"query", "key", "value", "weight", "residual"} <= shared
        assert {role: page[role] for role in shared} == {role: figures[role] for role in shared}


@pytest.mark.parametrize("file", DIAGRAMS, ids=lambda file: file.stem)
def test_diagrams_have_the_hues_and_the_marks_of_the_figures(file):
    svg = file.read_text(encoding="utf-8")
    style = re.search(r"<style>(.*?)</style>", svg, re.DOTALL)[1]
    for name, body in re.findall(r"\.(\w+)\s*\{([^}]*)\}", style):
        role = CLASSES.get(name.removesuffix("text")) or CLASSES.get(name.removesuffix("tip"))
        role = "residual" if name in ("res", "plus", "sum") else role
        for colour in re.findall(r"(?:stroke|fill):\s*(#[0-9a-f]{6})", body) if role else ():
            if colour in ("#ffffff", "#22272e", "#f3f5f7"):  # paper
                continue
            assert apart(colour, of_figures()[0][role]) < 26, (name, colour, role)
    for text in re.findall(r">([^<>]+)</(?:text|tspan)>", svg):
        for role, letter in (("query", "Q"), ("key", "K"), ("value", "V")):
            if re.fullmatch(rf"\W*(?:{letter}|{role}s?|{letter} · {role})", text.strip()):
                assert text.strip().startswith(MARKS[role]), text


def test_stills_have_the_hues_of_the_figures():
    light, _, _ = rules(STYLE, ".course-figure-still")
    own = {"plus": plots.SIGNED(1.0), "minus": plots.SIGNED(0.0)}
    own["weight"] = plots.WEIGHTS["cmap"](1.0)
    for name, colour in own.items():
        figures = light[re.fullmatch(r"var\(--cf-(\w+)\)", light[name])[1]]
        assert apart(to_hex(colour), figures) < 26, name


def test_modules_speak_of_roles_and_not_of_colours():
    """A colour by its name could not be changed in one place."""
    marks = (FIGURES / "runtime" / "roles.js").read_text(encoding="utf-8")
    assert all(f'{role}: "{mark}"' in marks for role, mark in MARKS.items())
    hues = "(?:blue|orange|green|magenta|ochre)"
    named = rf"theme\.{hues}\b|var\(--cf-{hues}\)"
    for file in sorted(FIGURES.rglob("*.js")):
        text = file.read_text(encoding="utf-8")
        assert re.findall(named, text) == [], file.name
        assert re.findall(r"[\"']#[0-9a-fA-F]{6}\b", text) == [], file.name


def test_stylesheet_holds_colours_in_variables_alone():
    outside = re.sub(r"--[\w-]+:[^;]*;", "", re.sub(r"/\*.*?\*/", "", STYLE, flags=re.DOTALL))
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(", outside) == []
