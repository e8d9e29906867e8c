"""Pieces of a page that is complete in itself: every text is escaped on its way in."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from course_lib.grading.reports.untrusted import on_one_line


def page(title: str, body: str) -> str:
    """A page with nothing but text, tables and pictures: its policy allows no script."""
    return _PAGE.replace("{title}", text(title)).replace("{body}", body)


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
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.2rem; } summary h2 { display: inline-block; margin-bottom: .4rem; }
.alarm { border: 3px solid #c9413f; padding: .8rem 1rem; font-size: 1.15rem; }
.facts { display: flex; flex-wrap: wrap; gap: .6rem 2rem; margin: 1rem 0; }
.facts dt { font-size: .85rem; opacity: .8; } .facts dd { margin: 0; font-size: 1.5rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; font-size: .9rem; }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
table { min-width: 30rem; } td { overflow-wrap: break-word; }
td.count { font-size: 1.2rem; text-align: right; }
.bar { display: inline-block; height: .8rem; background: #2f7fd1; border-radius: .15rem; }
details summary { cursor: pointer; } small { opacity: .85; }
</style></head><body>
{body}
</body></html>
"""
