"""Which entry of the book's field guide a mistake has: `field_guide.toml` says so."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DATA = Path(__file__).with_suffix(".toml")


@cache
def entries() -> Mapping[str, tuple[str, ...]]:
    """For each entry the mistakes that it is about: "no-scale", or "05/head always-causal"."""
    data = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    return {entry: tuple(mistakes) for entry, mistakes in data.items()}


@cache
def _entry_of() -> Mapping[str, str]:
    return {mistake: entry for entry, mistakes in entries().items() for mistake in mistakes}


def entry(task: str, mistake: str) -> str:
    """The entry on a mistake, as its anchor on the page; empty if there is none.

    Parameters
    ----------
    task : str
        For example "05/scores".
    mistake : str
        The mistake's name; that of a property of wrong data has no entry.
    """
    known = _entry_of()
    return known.get(f"{task} {mistake}") or known.get(mistake, "")
