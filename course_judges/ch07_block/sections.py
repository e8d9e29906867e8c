"""The sections of chapter 07 that a finding can recommend."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("07-block", heading)


FEED_FORWARD = _section("A feed-forward network for each position")
STREAM = _section("The residual stream")
NORM = _section("Layer normalization by hand")
AXIS = _section("Over which axis?")
PLACE = _section("Before or after the branch?")
TWO = _section("Two norms, not one")
BLOCK = _section("The block")
COUNT = _section("Counting the parameters")
