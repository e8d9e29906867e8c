"""Progress bars that draw nothing: a page says by itself that something runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class tqdm:
    """Passes on what it is given."""

    def __init__(self, iterable: Iterable[Any] | None = None, *_: Any, **__: Any) -> None:
        self.iterable = iterable if iterable is not None else ()
        self.n = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> tqdm:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, n: float = 1) -> None:
        """Count."""
        self.n += int(n)

    def _accept(self, *_: Any, **__: Any) -> None:
        """Accept: there is nothing to draw."""

    set_postfix = set_postfix_str = set_description = refresh = close = _accept


trange = range
