"""Pieces of a page that is complete in itself: every text is escaped on its way in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from course_grader.reports.untrusted import on_one_line


def page(title: str, body: str, style: str) -> str:
    """A page with nothing but text, tables and pictures: its policy allows no script.

    Parameters
    ----------
    title : str
    body : str
        HTML already.
    style : str
        CSS, beside that of every page.
    """
    return _PAGE.replace("{style}", style).replace("{title}", text(title)).replace("{body}", body)


def table(head: Sequence[str], rows: Iterable[str]) -> str:
    """A table of rows that are HTML already."""
    cells = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{cells}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def text(value: Any) -> str:
    """A value on one line, escaped."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return html.escape(on_one_line(str(value)))


def prose(sentence: str) -> str:
    """A sentence of a judge: what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(sentence))


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root { color-scheme: light dark; }
{style}</style></head><body>
{body}
</body></html>
"""
