"""What being late costs: a share of the points earned for each day that has begun, after a grace.

nbgrader asks a plugin; this is one, so that `course grade`, `course late`, `nbgrader autograde` and
formgrader's button agree. `nbgrader_config.py` names it and sets its numbers.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

from nbgrader.plugins import LateSubmissionPlugin
from traitlets import Float

SECONDS_OF_A_DAY = 86400.0


def seconds_late(due: datetime, handed_in: datetime, zone: tzinfo) -> float:
    """How much later than due something was handed in, with days as calendars have them.

    A day ends when clocks show the same time again. In the two nights of a year in which they are
    changed, that is after 23 or 25 hours.

    Parameters
    ----------
    due, handed_in : datetime
        In UTC, without saying so.
    zone : tzinfo
        Of the clocks.

    >>> from zoneinfo import ZoneInfo
    >>> due, handed_in = datetime(2026, 10, 24, 20), datetime(2026, 10, 25, 20, 30)
    >>> seconds_late(due, handed_in, ZoneInfo("Europe/Berlin")) / 3600
    23.5
    """
    passed = (handed_in - due).total_seconds()
    # Within the first day every second counts, because of a grace in minutes.
    if passed < SECONDS_OF_A_DAY / 2:
        return passed
    shown = [
        time.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) for time in (due, handed_in)
    ]
    return (shown[1] - shown[0]).total_seconds()


class PercentPerDay(LateSubmissionPlugin):
    """Takes a share of the points earned for each day that has begun."""

    grace_minutes = Float(
        0.0, min=0.0, help="So much later than the due date costs nothing; later, all of it counts."
    ).tag(config=True)
    percent_per_day = Float(
        0.0, min=0.0, max=100.0, help="Of the points earned, for each day that has begun."
    ).tag(config=True)
    most_percent = Float(
        100.0, min=0.0, max=100.0, help="However late: no more than this share is taken."
    ).tag(config=True)

    def late_submission_penalty(
        self,
        student_id: str,  # noqa: ARG002 - the names are nbgrader's
        score: float,
        total_seconds_late: float,
    ) -> float | None:
        """Points to take off a score; None where nothing is.

        Parameters
        ----------
        student_id : str
        score : float
            Points earned.
        total_seconds_late : float
            After the due date, which an extension has moved already.
        """
        share = self.percent(total_seconds_late)
        return score * share / 100.0 if share else None

    def percent(self, seconds_late: float) -> float:
        """Which share of the points earned is taken, in percent."""
        if seconds_late <= self.grace_minutes * 60.0:
            return 0.0
        days = math.ceil(seconds_late / SECONDS_OF_A_DAY)
        return min(days * self.percent_per_day, self.most_percent)

    def in_words(self) -> str:
        """The policy as students should read it; empty if being late costs nothing.

        >>> PercentPerDay(percent_per_day=10, grace_minutes=15, most_percent=50).in_words()
        '10 % of the points earned for each day begun, up to 50 %, after 15 minutes of grace'
        """
        if not self.percent_per_day or not self.most_percent:
            return ""
        words = f"{self.percent_per_day:g} % of the points earned for each day begun"
        if self.most_percent < 100.0:
            words += f", up to {self.most_percent:g} %"
        if self.grace_minutes:
            words += f", after {self.grace_minutes:g} minutes of grace"
        return words
