"""What every interactive figure is: state, words, a still picture, and where its module lies."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget

from course_figures import pages, sources, still
from course_figures.errors import FigureError
from course_figures.pixels import png
from course_lib.atomic import write_atomically
from course_lib.errors import CourseError
from course_lib.mime import PAGE_HTML

_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class computed(property):
    """A property of a figure that follows from its state; asked for, it has the state checked.

    Traits change one by one, and a reader types letter by letter: between two changes they need
    not agree. What follows from them then refuses in words, with the error of `Figure.check`.
    """

    def __get__(self, figure: Any, owner: type | None = None) -> Any:
        """The value, if the traits agree."""
        if figure is not None:
            figure.check()
        return super().__get__(figure, owner)


class Figure(anywidget.AnyWidget):
    """Base of the interactive figures.

    A subclass declares its state with the kinds of `course_figures.traits`, and defines

    - `title` (class attribute): its name for readers, two to five words;
    - `alt` (`computed`): one to three sentences that say what is shown, from the state;
    - `still()`: an SVG of the state, in currentColor, from `course_figures.still`;
    - `check()`, where traits have to agree with each other: raises one of the course's errors;
    - whatever else follows from the state, as `computed` properties.

    A state that `check` refuses is shown as its message.

    Its JavaScript module has the name of its Python module.
    """

    title = "Figure"

    def __init__(self, **state: Any) -> None:
        unknown = sorted(set(state) - set(self.state_names()))
        if unknown:
            raise TypeError(
                f"{type(self).__name__} has no {', '.join(unknown)}: "
                f"its state is {', '.join(self.state_names())}"
            )
        super().__init__(**state)
        self.check()

    @property
    def _esm(self) -> str:
        return sources.module(self.module_name())

    @property
    def _css(self) -> str:
        return sources.stylesheet()

    @classmethod
    def module_name(cls) -> str:
        """Name of the figure's module, in Python and in JavaScript."""
        # traitlets gives an instance a class of its own, which lies in a module of traitlets.
        written = next(base for base in cls.__mro__ if Figure in base.__bases__)
        return written.__module__.rpartition(".")[2]

    @classmethod
    def state_names(cls) -> list[str]:
        """Names of the traits that make up the state, in alphabetical order."""
        own = cls.class_traits(sync=True).items()
        return sorted(
            name
            for name, trait in own
            if not name.startswith("_") and issubclass(trait.this_class, Figure)
        )

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        raise NotImplementedError(f"{type(self).__name__} has no words: define alt")

    def still(self) -> str:
        """What the figure shows now, as an SVG that stands where nothing moves."""
        raise NotImplementedError(f"{type(self).__name__} has no still picture: define still()")

    def check(self) -> None:
        """Raise one of the course's errors if the traits do not agree with each other."""

    def change(self, **state: Any) -> None:
        """Assign several traits at once, where each alone would not agree with the rest.

        Parameters
        ----------
        **state
            New values by name.

        Raises
        ------
        CourseError
            If a value is refused, or they do not agree; the figure then keeps what it had.
        """
        before = {name: getattr(self, name) for name in state}
        with self.hold_sync():
            try:
                for name, value in state.items():
                    setattr(self, name, value)
                self.check()
            except Exception:
                for name, value in before.items():
                    setattr(self, name, value)
                raise

    def state(self) -> Mapping[str, Any]:
        """The state as JSON can hold it: what the page's figure begins with."""
        return {
            name: self.trait_metadata(name, "to_json")(getattr(self, name), self)
            for name in self.state_names()
        }

    def _seen(self) -> tuple[str, str]:
        """Words and still picture; of a state that cannot be shown, what is wrong with it."""
        try:
            self.check()
            return self.alt, self.still()
        except CourseError as error:
            words = f"This state cannot be shown: {error}."
            return words, still.message(words)

    def html(self) -> str:
        """The figure for a page: still picture, words and state, which the page's script mounts."""
        return self._html(*self._seen())

    def save(self, path: str | Path, title: str | None = None) -> Path:
        """Write the figure as one HTML file that opens in any browser, with no network.

        Parameters
        ----------
        path : path
            Where to, as "my-figure.html"; a file of that name is replaced.
        title : str
            Title and heading of the page; the figure's own if left out.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        FigureError
            If there is no folder for it.
        """
        file = Path(path)
        if not file.parent.is_dir():
            raise FigureError(f"{file} has no folder to be in: create {file.parent} first")
        page = pages.standalone(self, title=title or self.title)
        write_atomically(file, page.encode("utf-8"))
        return file

    def _html(self, words: str, picture: str) -> str:
        content = {"module": self.module_name(), "title": self.title, "state": self.state()}
        data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        # Nothing inside may end the script element or begin a comment in it.
        data = (
            data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        )
        return (
            f'<div class="course-figure-mount" data-course-figure="{self.module_name()}">'
            f'<figure class="course-figure-still">{picture}{still.caption(self.title, words)}'
            f'</figure><script type="application/json">{data}</script></div>'
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        words, picture = self._seen()
        pixels, width = png(picture)
        shown = {
            "text/plain": f"Figure: {words}",
            "image/png": base64.b64encode(pixels).decode("ascii"),
            PAGE_HTML: self._html(words, picture),
        }
        live = {kind: view for kind, view in data.items() if kind == _WIDGET_VIEW}
        return shown | live, {**metadata, "image/png": {"width": width}}
