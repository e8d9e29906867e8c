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

PERCENT_POINTS = 5
"""Or so many, for a share: of 200 samples, one machine's 8 % are another's 12 %."""

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.(\d+))?(?=(\s?%)?)")

_compare = IPyNbCell.compare_outputs


def roughly_equal(one, other):
    """Whether two texts are equal but for numbers that lie near each other."""
    if _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return False
    pairs = zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=True)
    for mine, theirs in pairs:
        a, b = (float(found[0].replace(",", "")) for found in (mine, theirs))
        digit = 10.0 ** -max(len(found[1] or "") for found in (mine, theirs))
        share = PERCENT_POINTS if mine[2] else 0
        if abs(a - b) > max(SHARE * max(a, b), LAST_DIGITS * digit, share) + 1e-12:
            return False
    return True


def is_rough(kind, text):
    """Whether an output of this type is compared roughly."""
    words = kind == "text/plain" and text.startswith(FIGURE)
    return words or kind == PAGE or kind.startswith(GLUED)


def without_rounding(fresh, stored, sanitize):
    """The fresh outputs, with what is compared roughly as it is stored where the two are roughly
    equal; `sanitize` takes out what is not compared at all.
    """
    fresh = copy.deepcopy(fresh)
    for one, other in zip(fresh, stored, strict=False):
        kept, data = other.get("data", {}), one.get("data", {})
        for kind in data.keys() & kept.keys():
            mine, theirs = str(data[kind]), str(kept[kind])
            if is_rough(kind, mine) and roughly_equal(sanitize(mine), sanitize(theirs)):
                data[kind] = kept[kind]
    return fresh


def _compare_roughly(self, test, ref, skip_compare=None):
    return _compare(self, without_rounding(test, ref, self.sanitize), ref, skip_compare)


def pytest_configure():
    """Called by pytest when it has loaded this module."""
    IPyNbCell.compare_outputs = _compare_roughly
