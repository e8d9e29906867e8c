"""`python -m course_figures.own_gpt`: train a reader's own program, and make it a page to send.

`course my-gpt train` runs this in a process of its own, because it runs the reader's program.
"""

from __future__ import annotations

import argparse
import html
import itertools
import math
import sys
from collections import Counter
from pathlib import Path

import torch
from torch import nn

from course_figures import pages
from course_figures.errors import FigureError
from course_figures.live_model import LiveModel
from course_lib import data, own_program
from course_lib.atomic import write_atomically
from course_lib.config import Config
from course_lib.data import Vocabulary
from course_lib.errors import CheckpointError, ConfigError, CourseError
from course_lib.model import count_parameters
from course_lib.own_program import LADDER, Program, Progress
from course_lib.training import evaluate_within

SAMPLE = 400
_SECONDS_TO_EVALUATE = 20.0
_REPORTS = 12


def main(arguments: list[str] | None = None) -> int:
    """Train, say how it went, and write the page and the card.

    Returns
    -------
    int
        0 if all is written, 2 if it could not be done, 130 if a person stopped it.
    """
    given = _parser().parse_args(arguments)
    try:
        return _train(given)
    except CourseError as error:
        print(f"✗ {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="course my-gpt train")
    parser.add_argument("program", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--text", default="shakespeare")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--out", type=Path)
    return parser


def _train(given: argparse.Namespace) -> int:
    program = own_program.read(given.program)
    folder = given.out or given.program.parent
    if not folder.is_dir():
        raise FigureError(f"there is no folder {folder}: create it first")
    text, held_out, name = _texts(given.text)
    kept = folder / f"{given.program.stem}.pt"
    before = Progress() if given.fresh else own_program.load(kept, text)
    left = given.seconds - before.seconds
    if before.steps and left <= 0:
        raise ConfigError(
            f"it has been trained for {before.seconds:.0f} s already: give more with --seconds, or "
            "begin anew with --fresh"
        )
    if before.steps:
        print(f"Going on after {before.seconds:.0f} s and {before.steps:,} steps.")
    print(f"Training on {name} for {left:.0f} s. Ctrl-C keeps what there is.", flush=True)
    alphabet = sorted(set(text))
    tokens = _encoded(held_out, alphabet)

    def said(model: nn.Module, config: Config, progress: Progress) -> None:
        loss = evaluate_within(1.0, model, tokens[:20_000], config.block_size)[0]
        print(
            f"{progress.seconds:6.0f} s  step {progress.steps:6,}  held-out loss {loss:.3f} nats",
            flush=True,
        )
        own_program.save(kept, progress, text)

    try:
        model, config, progress = own_program.trained(
            program, text, left, before, said, every=max(left / _REPORTS, 2.0)
        )
    except KeyboardInterrupt:
        print(f"\nStopped. Run the same command again to go on; {kept} has it until then.")
        return 130
    loss = evaluate_within(_SECONDS_TO_EVALUATE, model, tokens, config.block_size)[0]
    parameters = count_parameters(model)
    print(_compared(loss, held_out, text, name, parameters))
    sample = program.write(model, _prompt(text), SAMPLE)
    print(f"\n{sample}\n")
    facts = (
        f"{parameters:,} parameters, {progress.steps:,} steps in {progress.seconds:.0f} s, "
        f"held-out loss {loss:.3f} nats on {name}"
    )
    card = folder / f"{given.program.stem}.md"
    page = folder / f"{given.program.stem}.html"
    try:
        live = live_page(model, config, alphabet, program, facts, _prompt(text))
    except CheckpointError as error:
        print(f"! It gets no page of its own: {error}.")
        print("  The page computes the GPT of chapter 08, with a ReLU or a GELU, and no other.")
        page = None
    else:
        write_atomically(page, live.encode("utf-8"))
        print(f"✓ {page}: your model, a box to write in, and your source. It needs no network.")
    write_atomically(card, card_of(program, config, facts, sample, page).encode("utf-8"))
    print(f"✓ {card}: a card for the page of your repository.")
    return 0


def _texts(name: str) -> tuple[str, str, str]:
    """What is trained on, what is held out, and what the text is called."""
    if name in ("shakespeare", "play"):
        corpus = data.load(name)
        whole, shown = (
            corpus.text,
            "Tiny Shakespeare" if corpus.name == "shakespeare" else "the play",
        )
    else:
        try:
            whole, shown = Path(name).read_text(encoding="utf-8"), Path(name).name
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"--text {name} is neither shakespeare nor play, and no text file that can be read"
            ) from error
    if len(whole) < 2000:
        raise ConfigError(f"{name} has {len(whole)} symbols: a model needs at least 2,000")
    cut = int(0.9 * len(whole))
    return whole[:cut], whole[cut:], shown


def _encoded(text: str, alphabet: list[str]) -> torch.Tensor:
    """Tokens of a text; symbols that were never trained on are left out."""
    numbers = {symbol: number for number, symbol in enumerate(alphabet)}
    return torch.tensor([numbers[symbol] for symbol in text if symbol in numbers])


def _prompt(text: str) -> str:
    first = text.partition("\n")[0][:40]
    return text[: len(first) + 1]


def _counted_pairs(text: str, held_out: str) -> float:
    """The loss of counted pairs, each pair once more than it occurred."""
    V = len(set(text))
    pairs, singles = Counter(itertools.pairwise(text)), Counter(text[:-1])
    asked = list(itertools.pairwise(held_out))
    return -sum(math.log((pairs[a, b] + 1) / (singles[a] + V)) for a, b in asked) / len(asked)


def _compared(loss: float, held_out: str, text: str, name: str, parameters: int) -> str:
    lines = [f"\nHeld-out loss {loss:.3f} nats, with {parameters:,} parameters."]
    lines.append(f"Counted pairs have {_counted_pairs(text, held_out):.3f} on this text.")
    if name == "Tiny Shakespeare":
        rows = sorted([*LADDER.items(), ("yours", loss)], key=lambda pair: -pair[1])
        lines += ["The ladder of chapter 08, where each rung has 2,500 steps of 1,024 targets:"]
        lines += [
            f"  {'→' if rung == 'yours' else ' '} {found:.3f}  {rung}" for rung, found in rows
        ]
    else:
        lines.append("The ladder of chapter 08 is on Tiny Shakespeare, so it doesn't compare.")
    return "\n".join(lines)


def live_page(
    model: nn.Module,
    config: Config,
    alphabet: list[str],
    program: Program,
    facts: str,
    prompt: str,
) -> str:
    """One HTML page with a reader's model, a box to write in, and the source.

    Parameters
    ----------
    model : Module
        Of the program.
    config : Config
        Its sizes.
    alphabet : list of str
        Its symbols, in the order of their numbers.
    program : Program
    facts : str
        A sentence on its training.
    prompt : str
        How the first text begins.

    Raises
    ------
    CheckpointError
        Names the part that has no place in what a page computes.
    """
    figure = LiveModel.of(model, Vocabulary("".join(alphabet)), prompt, config=config)
    below = (
        f"<p>{html.escape(facts)}.</p><h2>The program</h2>"
        '<pre style="overflow-x:auto;font-size:13px">'
        f"<code>{html.escape(program.source)}</code></pre>"
    )
    return pages.standalone(figure, title="A GPT that I wrote", below=below)


def card_of(program: Program, config: Config, facts: str, sample: str, page: Path | None) -> str:
    """A card for a repository, in Markdown: the loss, the parameters, a sample."""
    fence = "`" * max(3, 1 + max(map(len, _runs_of_ticks(sample)), default=0))
    lines = [
        "# A GPT that I wrote",
        "",
        f"{len(program.source.splitlines())} lines of Python and PyTorch: {facts}.",
        "",
        "| setting | value |",
        "| :-- | --: |",
        *(f"| {name} | {getattr(config, name)} |" for name in own_program.SIZES),
        "",
        "It writes:",
        "",
        f"{fence}text",
        sample,
        fence,
    ]
    if page is not None:
        lines += ["", f"[Try it in your browser]({page.name}): one file, no network."]
    return "\n".join(lines) + "\n"


def _runs_of_ticks(text: str) -> list[str]:
    return ["".join(run) for run in text.split() if set(run) == {"`"}]


if __name__ == "__main__":
    sys.exit(main())
