"""The search for settings that `time_to_loss` gives to both sides: the same code, as many trials.

A search knows a row's model, its loss to reach, and nothing about whose loop it tunes. It works in
rounds. Every trial of a round may spend the same processor seconds: it takes as many steps as they
buy at its batch size, with a schedule as long as that, and is judged by the loss over the whole
validation split. The first round tries a setting found by hand earlier and random ones; each later
round tries the best of the last one again, with neighbors of it. If a round's best reached the
target, the next one gets fewer seconds, otherwise more.

Then the best three of the last round are trained from two more seeds, and the lowest mean wins. At
last the number of steps: from where the rounds ended, steps are taken away or added, a rung at a
time, until they are the fewest on the ladder with which the mean loss of three seeds is at the
target, with a small margin. None of these seeds is measured later.
"""

import dataclasses
import math
import random
import statistics
import time
from typing import Any

import torch

from benchmarks.time_to_loss_settings import (
    SCHEDULES,
    Row,
    Setting,
    Side,
    with_steps,
)
from course_lib.data import Corpus
from course_lib.training import evaluate

BATCH_SIZES = (8, 16, 32, 64, 128, 256, 512)
BETAS = (0.9, 0.95, 0.99, 0.999)
MUON_RATES = (0.01, 0.1)
SEEDS = (100, 101, 102)
FINALISTS = 3
MARGIN = 0.003  # nats, because the seeds of the measurement are others
RUNG = 1.15
MOST_RUNGS = 12
FEWEST_STEPS = 10
DIVERGED = 1e9  # the loss of a training that diverged; JSON knows no infinity


class Search:
    """The search of one side of one row, and what it has cost so far.

    Parameters
    ----------
    row, side, corpus : Row, Side, Corpus
        Whose settings are sought, and the text.
    name : str
        Decides the random numbers.
    """

    def __init__(self, row: Row, side: Side, corpus: Corpus, name: str):
        self.row, self.side, self.corpus = row, side, corpus
        self.draw = random.Random(name)
        self.costs: dict[int, float] = {}
        self.trials: list[dict[str, Any]] = []
        self.finalists: list[dict[str, Any]] = []
        self.rungs: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """All rounds and the ladder; what was tried, what was found, and what it cost."""
        began, seconds, best = time.process_time(), self.row.first_seconds, self.row.first
        for number, trials in enumerate(self.row.rounds):
            settings = [best]
            while len(settings) < trials:
                settings.append(self._neighbor(best) if number else self._random())
            results = [self._trial(setting, seconds, number) for setting in settings]
            found = min(results, key=lambda result: result["loss"])
            best = Setting(**found["setting"])
            seconds *= 0.7 if found["loss"] <= self.row.target else 1.4
        chosen = self._fewest_steps(self._final(results))
        return {
            "setting": dataclasses.asdict(chosen),
            "trials": self.trials,
            "finalists": self.finalists,
            "rungs": self.rungs,
            "trainings": len(self.trials)
            + len(SEEDS[1:]) * len(self.finalists)
            + len(SEEDS) * len(self.rungs[1:]),
            "processor_seconds": time.process_time() - began,
        }

    def _loss(self, setting: Setting, seed: int) -> float:
        torch.manual_seed(seed)
        model = self.side.build(self.corpus)
        self.side.train(model, self.corpus, self.row.block_size, setting, seed)
        return evaluate(model, self.corpus.validation, self.row.block_size)

    def _cost(self, batch_size: int) -> float:
        """Processor seconds of a step."""
        if batch_size not in self.costs:
            model = self.side.build(self.corpus)
            setting = dataclasses.replace(self.row.first, batch_size=batch_size, lr=1e-4)
            for steps in (3, 20):  # the first steps of a model pay for memory that is kept
                start = time.process_time()
                self.side.train(
                    model, self.corpus, self.row.block_size, with_steps(setting, steps), 0
                )
                self.costs[batch_size] = (time.process_time() - start) / steps
        return self.costs[batch_size]

    def _trial(self, setting: Setting, seconds: float, number: int) -> dict[str, Any]:
        steps = max(FEWEST_STEPS, round(seconds / self._cost(setting.batch_size)))
        setting = with_steps(setting, steps)
        start = time.process_time()
        [loss] = self._losses(setting, SEEDS[:1])
        self.trials.append(
            {
                "round": number,
                "setting": dataclasses.asdict(setting),
                "loss": loss,
                "processor_seconds": time.process_time() - start,
            }
        )
        return self.trials[-1]

    def _random(self) -> Setting:
        low, high = (math.log(rate) for rate in self.row.rates)
        muon_low, muon_high = (math.log(rate) for rate in MUON_RATES)
        return Setting(
            batch_size=self.draw.choice([B for B in BATCH_SIZES if self._fits(B)]),
            lr=math.exp(self.draw.uniform(low, high)),
            beta2=self.draw.choice(BETAS),
            schedule=self.draw.choice(list(SCHEDULES)),
            steps=1,
            muon_lr=math.exp(self.draw.uniform(muon_low, muon_high)),
        )

    def _neighbor(self, best: Setting) -> Setting:
        draw = self.draw
        sizes = [B for B in (best.batch_size // 2, best.batch_size * 2) if self._fits(B)]
        return dataclasses.replace(
            best,
            lr=best.lr * math.exp(draw.uniform(-0.7, 0.7)),
            muon_lr=best.muon_lr * math.exp(draw.uniform(-0.5, 0.5)),
            batch_size=draw.choice(sizes) if draw.random() < 0.5 else best.batch_size,
            beta2=draw.choice(BETAS) if draw.random() < 0.3 else best.beta2,
            schedule=draw.choice(list(SCHEDULES)) if draw.random() < 0.3 else best.schedule,
        )

    def _fits(self, batch_size: int) -> bool:
        """Between 8 and 512 windows, and no more than 4,096 tokens a step."""
        return 8 <= batch_size <= 512 and batch_size * self.row.block_size <= 4096

    def _losses(self, setting: Setting, seeds: tuple[int, ...]) -> list[float]:
        found = [self._loss(setting, seed) for seed in seeds]
        return [loss if math.isfinite(loss) else DIVERGED for loss in found]

    def _final(self, results: list[dict[str, Any]]) -> Setting:
        """Of the best few of the last round, the one with the lowest mean over all seeds."""
        best = sorted(results, key=lambda result: result["loss"])[:FINALISTS]
        for result in best:
            setting = Setting(**result["setting"])
            losses = [result["loss"], *self._losses(setting, SEEDS[1:])]
            self.finalists.append({"setting": result["setting"], "losses": losses})
        chosen = min(self.finalists, key=lambda finalist: statistics.mean(finalist["losses"]))
        self.rungs.append({"steps": chosen["setting"]["steps"], "losses": chosen["losses"]})
        return Setting(**chosen["setting"])

    def _reached(self) -> bool:
        """Whether the last rung is good enough."""
        return statistics.mean(self.rungs[-1]["losses"]) <= self.row.target - MARGIN

    def _fewest_steps(self, best: Setting) -> Setting:
        """Down the ladder while the target is reached, or up until it is."""
        steps, down = best.steps, self._reached()
        for _ in range(MOST_RUNGS):
            following = round(steps / RUNG) if down else math.ceil(steps * RUNG)
            if following == steps:
                break
            losses = self._losses(with_steps(best, following), SEEDS)
            self.rungs.append({"steps": following, "losses": losses})
            reached = self._reached()
            if down and not reached:
                break
            steps = following
            if reached and not down:
                break
        return with_steps(best, steps)
