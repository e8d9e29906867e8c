"""Inside the sandbox: what one cell shows, kept as nbformat has it and cut at a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The forms of a value that a page of feedback can show; any others are dropped.
PICTURE = "image/png"
TEXTS = ("text/plain", "text/markdown", "text/html")

# A cell that shows a picture for each of 50 steps is long already, and even the smallest output
# takes some space on the page.
MOST_OUTPUTS_OF_A_CELL = 100


class Outputs:
    """What one cell shows, cut at a size.

    Parameters
    ----------
    most_text : int
        Characters that all its texts may have together.
    most_picture_bytes : int
        Bytes that all its pictures may have together.
    """

    def __init__(self, most_text: int, most_picture_bytes: int):
        self._most = most_text, most_picture_bytes
        self.clear()

    def clear(self) -> None:
        """Forget what was shown, as a cell does that draws the same picture again and again."""
        self.left, self.left_for_pictures = self._most
        self.cut = False
        self.items: list[dict[str, Any]] = []

    @property
    def picture_bytes(self) -> int:
        """Bytes of the pictures that are kept."""
        return self._most[1] - self.left_for_pictures

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
        """Add a picture or a value, in those of its forms that a page can show."""
        shown = {key: data[key] for key in TEXTS if isinstance(data.get(key), str)}
        if sum(map(len, shown.values())) > self.left:
            shown = {key: text for key, text in shown.items() if key == "text/plain"}
            self.cut = True
        shown = {key: self._fit(text) for key, text in shown.items()}
        picture = data.get(PICTURE)
        if isinstance(picture, str):
            size = len(picture) * 3 // 4  # base64: four characters for three bytes
            if size <= self.left_for_pictures:
                self.left_for_pictures -= size
                shown[PICTURE] = picture
            else:
                self.cut = True
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
