"""Pages that are one file: style, script and data are all inside, and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

STYLE = "page.css"
_HERE = Path(__file__).parent


@cache
def part(name: str) -> str:
    """A file of style or script that pages hold."""
    return (_HERE / name).read_text(encoding="utf-8")


def parts_version(*names: str) -> str:
    """Hash of such files: a page that is kept must be made anew when they change."""
    return hashlib.sha256("".join(part(name) for name in names).encode()).hexdigest()[:12]


def page(title: str, body: str, *, data: Any = None, script: str = "") -> str:
    """A whole page; `data` is what the script finds as ``DATA``."""
    # A text of the data that ends a script element would end the page's own.
    embedded = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    scripts = f"<script>const DATA={embedded};\n{script}</script>" if script else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{part(STYLE)}</style></head>'
        f"<body><h1>{text(title)}</h1>{body}{scripts}</body></html>\n"
    )


def text(words: object) -> str:
    """Words as they may stand in a page."""
    return html.escape(str(words))


def table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A plain table."""
    head = "".join(f"<th>{text(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def figures(named: Sequence[tuple[str, str]]) -> str:
    """Some figures at a glance: name and value."""
    boxes = "".join(f'<div class="figure"><b>{text(v)}</b><span>{text(n)}</span></div>' for n, v in named)
    return f'<div class="figures">{boxes}</div>'


def picture(png: bytes, words: str) -> str:
    """A picture inside the page."""
    return f'<img alt="{text(words)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
