"""A plugin for nbval: trained numbers that a text or a figure's words quote are compared roughly.

Processors round differently, and what is trained for hundreds of steps shows it: 51 % of the words
on one machine are 42 % on another. The claims about such numbers are assertions, which hold on
every machine. What this still notices is a number that belongs to something else, and other words.
"""

import copy
import re

from nbval.plugin import IPyNbCell

GLUED = "application/papermill.record/"
"""How the types of output begin that hold glued values."""

FIGURE = "Figure: "
"""How the words begin in which a figure says what it shows."""

PAGE = "text/vnd.course.page+html"
"""The type of output of a figure for the book's pages."""

SHARE = 0.3
"""Of the larger of two numbers: how far they may lie apart."""

LAST_DIGITS = 2
"""Or so many units of the last digit that is shown."""

_DRAWN = re.compile(r'<svg\b.*?</svg>|"base64":"[^"]*"', re.DOTALL)
"""In a page: the still picture, and numbers as bytes. `sanitize.cfg` leaves them out, too."""

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.(\d+))?")

_compare = IPyNbCell.compare_outputs


def roughly_equal(one, other):
    """Whether two texts are equal but for numbers that lie near each other."""
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=True)
    for mine, theirs in pairs:
        a, b = (float(found[0].replace(",", "")) for found in (mine, theirs))
        digit = 10.0 ** -max(len(found[1] or "") for found in (mine, theirs))
        if abs(a - b) > max(SHARE * max(a, b), LAST_DIGITS * digit) + 1e-12:
            return False
    return True


def without_rounding(fresh, stored):
    """The fresh outputs, with glued values and figures' words as they are stored where the two are
    roughly equal.
    """
    fresh = copy.deepcopy(fresh)
    for one, other in zip(fresh, stored, strict=False):
        kept, data = other.get("data", {}), one.get("data", {})
        for kind in data.keys() & kept.keys():
            mine, theirs = str(data[kind]), str(kept[kind])
            words = kind == "text/plain" and mine.startswith(FIGURE)
            if kind == PAGE:
                mine, theirs = _DRAWN.sub("", mine), _DRAWN.sub("", theirs)
            rough = kind == PAGE or kind.startswith(GLUED) or words
            if rough and roughly_equal(mine, theirs):
                data[kind] = kept[kind]
    return fresh


def _compare_roughly(self, test, ref, skip_compare=None):
    return _compare(self, without_rounding(test, ref), ref, skip_compare)


def pytest_configure():
    """Called by pytest when it has loaded this module."""
    IPyNbCell.compare_outputs = _compare_roughly
