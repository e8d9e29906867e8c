"""What a reader's hands and eyes do with a figure, for the tests."""

import base64

import browsing
import numpy as np


def trait(page, name, index=0):
    """A trait of the page's figure as Python holds it: arrays as numpy arrays."""
    value = page.evaluate(
        "([i, name]) => document.querySelectorAll('.course-figure-mount')[i].figureModel.get(name)",
        [index, name],
    )
    if isinstance(value, dict) and "base64" in value:
        data = base64.b64decode(value["base64"])
        return np.frombuffer(data, value["dtype"]).reshape(value["shape"])
    return value


def shown(page, name, index=0):
    """Numbers that the figure draws (what its module passed to `reveal`), as a numpy array."""
    numbers = page.evaluate(
        "([i, name]) => Array.from(document.querySelectorAll('.course-figure')[i].shown[name])",
        [index, name],
    )
    return np.array(numbers)


def settle(page):
    """Wait until what was changed is drawn."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    page.wait_for_function("!document.querySelector('.course-figure[data-drawing]')")


def message(page, index=0):
    """The message inside a figure, or an empty text."""
    settle(page)
    fault = page.locator(".course-figure").nth(index).locator(".cf-fault")
    return fault.inner_text() if fault.is_visible() else ""


def words(page, index=0):
    """The figure's own description of what it shows."""
    settle(page)
    return page.locator(".course-figure > p.cf-hidden:not([role])").nth(index).text_content()


def mouse_drag(page, start, end):
    """Press, move in steps, release; points in pixels of the window."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=6)
    page.mouse.up()
    settle(page)


def touch_drag(page, start, end, steps=6):
    """The same with one finger; the page has to be opened with `touch=True`."""
    finger = page.context.new_cdp_session(page)

    def send(kind, *points):
        finger.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )

    send("touchStart", start)
    for k in range(1, steps + 1):
        send(
            "touchMove",
            tuple(a + (b - a) * k / steps for a, b in zip(start, end, strict=True)),
        )
    send("touchEnd")
    settle(page)


def centre(locator):
    """The middle of an element, in pixels of the window."""
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def too_wide(page):
    """By how many pixels the page is wider than the window."""
    return page.evaluate(
        "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def violations(page):
    """What axe-core finds wrong with the figures, one line each."""
    return browsing.violations(page, ".course-figure-mount")
