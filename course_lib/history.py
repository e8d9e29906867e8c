"""The history that a training leaves: its losses, its evaluations, and their picture."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from course_lib.errors import ConfigError

if TYPE_CHECKING:
    from course_lib.plots import Picture


@dataclass(frozen=True)
class Evaluation:
    """The loss over the whole validation split after some step.

    Attributes
    ----------
    step : int
        Steps done.
    seconds : float
        Since training began, evaluation included.
    loss : float
        Mean over every target of the split, in nats.
    share : float
        How much of the split that was, where `seconds` left no time for all of it.
    """

    step: int
    seconds: float
    loss: float
    share: float = 1.0


@dataclass
class History:
    """What happened in a training; the last expression of a cell draws it.

    Attributes
    ----------
    losses : list of float
        Loss of the batch of each step, before that step.
    evaluations : list of Evaluation
        Losses over the whole validation split, in order.
    seconds : float
        Spent in training, evaluation included, over all its parts if it was resumed.
    tokens : int
        Targets seen, repeated ones counted again.
    stopped : {"steps", "target", "seconds", "interrupted"}
        What ended it.
    """

    losses: list[float] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    seconds: float = 0.0
    tokens: int = 0
    stopped: str = "steps"

    @property
    def steps(self) -> int:
        """Steps done."""
        return len(self.losses)

    @property
    def validation(self) -> float:
        """The last loss over the whole validation split; NaN if there was none."""
        return self.evaluations[-1].loss if self.evaluations else math.nan

    @property
    def _part(self) -> str:
        """Of how much of the split the last evaluation is, where it is not of all."""
        share = self.evaluations[-1].share if self.evaluations else 1.0
        return "" if share == 1 else f" (on {share:.2g} of the split)"

    @property
    def tokens_per_second(self) -> float:
        """Targets seen for each second of training."""
        return self.tokens / self.seconds if self.seconds > 0 else math.nan

    def seconds_to(self, loss: float) -> float | None:
        """When validation first was at most `loss`; None if it never was."""
        return next((e.seconds for e in self.evaluations if e.loss <= loss), None)

    def brief(self) -> dict[str, str]:
        """Last losses and speed, as short as a progress bar wants them."""
        shown = {"loss": f"{self.losses[-1]:.3f}"} if self.losses else {}
        if self.evaluations:
            shown["validation"] = f"{self.validation:.3f}{self._part}"
        return {**shown, "tokens/s": f"{self.tokens_per_second:,.0f}"}

    def plot(self, against: str = "step") -> Picture:
        """Batch losses, their running mean, and the validation losses.

        Parameters
        ----------
        against : {"step", "seconds"}
            The horizontal axis; of seconds, only validation is known.

        Raises
        ------
        ConfigError
            If the axis has another name.
        """
        from course_lib import plots

        if against not in ("step", "seconds"):
            raise ConfigError(f"against = {against!r}: 'step' or 'seconds'")
        drawing, ax = plots.figure(height=3.0)
        if against == "step" and self.losses:
            # A picture is 600 pixels wide: more points than that only make the file heavy.
            stride = max(1, len(self.losses) // 300)
            where = list(range(0, len(self.losses), stride))
            means = [statistics.fmean(self.losses[i : i + stride]) for i in where]
            ax.plot(
                [i + stride / 2 for i in where],
                means,
                color=plots.PALETTE[0],
                alpha=0.6,
                linewidth=1.0,
                label="batches",
            )
        ax.plot(
            [e.step if against == "step" else e.seconds for e in self.evaluations],
            [e.loss for e in self.evaluations],
            color=plots.PALETTE[1],
            marker=plots.MARKERS[1],
            label="whole validation split" if not self._part else "validation",
        )
        ax.set_xlabel("steps" if against == "step" else "seconds")
        ax.set_ylabel("loss (nats)")
        if self.evaluations:
            ax.set_title(f"Validation loss ends at {self.validation:.3f}{self._part}")
            ax.legend()
        return plots.show(
            drawing,
            alt=f"Loss against {against} over {self.steps} steps and {self.seconds:.1f} seconds. "
            f"The validation loss ends at {self.validation:.3f}{self._part}.",
        )

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        forms, sizes = self.plot()._repr_mimebundle_()
        return {**forms, "text/plain": str(self)}, sizes

    def __str__(self) -> str:
        """One line: steps, seconds, tokens per second, last losses, and what ended it."""
        last = f"{self.losses[-1]:.4f}" if self.losses else "none"
        return (
            f"History: {self.steps} steps, {self.seconds:.1f} s, "
            f"{self.tokens_per_second:,.0f} tokens/s, last batch {last}, "
            f"validation {self.validation:.4f}{self._part}, ended by {self.stopped}"
        )

    __repr__ = __str__
