"""Inside the sandbox: what one cell shows, kept as nbformat has it and cut at a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What a page of feedback can show; anything else would be dropped there.
SHOWN_TYPES = (
    "text/plain",
    "text/html",
    "text/latex",
    "text/markdown",
    "image/png",
    "image/svg+xml",
)

MOST_OUTPUTS_OF_A_CELL = 100


class Outputs:
    """What one cell shows, cut at a size.

    Parameters
    ----------
    most_bytes : int
        All text and pictures of the cell together.
    """

    def __init__(self, most_bytes: int):
        self.left = most_bytes
        self.cut = False
        self.items: list[dict[str, Any]] = []

    def write(self, name: str, text: str) -> None:
        """Add text of stdout or stderr, to the last output where it is of the same kind."""
        text = self._fit(text)
        if not text:
            return
        last = self.items[-1] if self.items else {}
        if last.get("output_type") == "stream" and last.get("name") == name:
            last["text"].append(text)
        else:
            self._add({"output_type": "stream", "name": name, "text": [text]})

    def display(self, kind: str, data: Mapping[str, Any], number: int | None = None) -> None:
        """Add a picture or a value; of several forms, those that a page can show."""
        shown = {key: data[key] for key in SHOWN_TYPES if isinstance(data.get(key), str)}
        if sum(map(len, shown.values())) > self.left:
            shown = {k: self._fit(v) for k, v in shown.items() if k == "text/plain"}
            self.cut = True
        self.left -= sum(map(len, shown.values()))
        output: dict[str, Any] = {"output_type": kind, "data": shown, "metadata": {}}
        if kind == "execute_result":
            output["execution_count"] = number
        self._add(output)

    def error(self, kind: str, message: str, lines: list[str]) -> None:
        """Add a traceback."""
        words = self._fit("\n".join(lines))
        self._add(
            {
                "output_type": "error",
                "ename": kind[:200],
                "evalue": message[:2000],
                "traceback": words.split("\n"),
            }
        )

    def finished(self) -> list[dict[str, Any]]:
        """All outputs as nbformat has them."""
        for item in self.items:
            if item["output_type"] == "stream":
                item["text"] = "".join(item["text"])
        if self.cut:
            self.items.append(
                {"output_type": "stream", "name": "stderr", "text": "… (more output was cut)\n"}
            )
        return self.items

    def _fit(self, text: str) -> str:
        if len(text) > self.left:
            text, self.cut = text[: self.left], True
        self.left -= len(text)
        return text

    def _add(self, output: dict[str, Any]) -> None:
        if len(self.items) < MOST_OUTPUTS_OF_A_CELL:
            self.items.append(output)
        else:
            self.cut = True
