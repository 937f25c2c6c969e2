"""Inline SVG by hand: elements, and the frame that every figure has.

figure("Accuracy", "bars per arm", 120, [text(0, 12, "G"), rect(0, 20, 80, 16, "c0")])

Colours are classes, so a page and a file of its own style them alike, light and
dark. Text keeps a readable size on a phone because figures are narrow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from html import escape

WIDTH = 440

# Okabe and Ito's colours, told apart by readers with any colour vision.
STYLE = """
svg.figure { --ink: #1b1f24; --faint: #d5d9de; --soft: #59626d; --paper: #fff;
  font: 12.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { svg.figure {
  --ink: #e8eaed; --faint: #3d444d; --soft: #a5adb7; --paper: #15181c; } }
@media print { svg.figure { --ink: #000; --faint: #ccc; --soft: #444; --paper: #fff; } }
svg.figure text { fill: var(--ink); }
svg.figure .halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
svg.figure .soft { fill: var(--soft); }
svg.figure .strong { font-weight: 600; }
svg.figure .small { font-size: 11px; }
svg.figure .end { text-anchor: end; }
svg.figure .middle { text-anchor: middle; }
svg.figure .grid { stroke: var(--faint); stroke-width: 1; }
svg.figure .zero { stroke: var(--soft); stroke-width: 1.5; stroke-dasharray: 3 3; }
svg.figure .whisker { stroke: var(--ink); stroke-width: 1.75; fill: none; }
svg.figure .point { fill: var(--ink); }
svg.figure .edge { stroke: var(--soft); stroke-width: 1.25; fill: none; }
svg.figure .box { fill: var(--paper); stroke: var(--soft); }
svg.figure .shown { stroke: #0072b2; stroke-width: 2.5; }
svg.figure .c0 { fill: #56b4e9; } svg.figure .c1 { fill: #e69f00; }
svg.figure .c2 { fill: #009e73; } svg.figure .c3 { fill: #d55e00; }
svg.figure .c4 { fill: #cc79a7; } svg.figure .c5 { fill: #999999; }
svg.figure .c6 { fill: #f0e442; }
svg.figure .s0 { stroke: #0072b2; } svg.figure .s1 { stroke: #d55e00; stroke-dasharray: 6 4; }
svg.figure .s2 { stroke: #009e73; stroke-dasharray: 2 3; }
svg.figure .s3 { stroke: #cc79a7; stroke-dasharray: 9 3 2 3; }
svg.figure .f0 { fill: #0072b2; } svg.figure .f1 { fill: #d55e00; }
svg.figure .f2 { fill: #009e73; } svg.figure .f3 { fill: #cc79a7; }
svg.figure .line { stroke-width: 2.25; fill: none; }
"""


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(tag: str, content: str = "", /, **attributes: object) -> str:
    """`cls` is the attribute class; `_` in a name is `-`."""
    names = {"cls": "class"}
    written = "".join(
        f' {names.get(name, name.replace("_", "-"))}="{escape(_text(value))}"'
        for name, value in attributes.items()
        if value is not None and value != ""
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def _text(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def text(x: float, y: float, content: str, cls: str = "") -> str:
    return element("text", escape(content), x=float(x), y=float(y), cls=cls)


def rect(x: float, y: float, width: float, height: float, cls: str, about: str = "") -> str:
    """`about` is what a reader sees on pointing at it."""
    title = element("title", escape(about)) if about else ""
    size = {"width": float(max(width, 0)), "height": float(height)}
    return element("rect", title, x=float(x), y=float(y), **size, cls=cls)


def line(x1: float, y1: float, x2: float, y2: float, cls: str) -> str:
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), cls=cls)


def path(d: str, cls: str) -> str:
    return element("path", d=d, cls=cls)


def figure(
    title: str, about: str, height: float, parts: Iterable[str], width: float = WIDTH
) -> str:
    """`about` says in words what is drawn, for those who do not see it."""
    content = "\n".join(parts)
    mark = hashlib.sha256(f"{title}{content}".encode()).hexdigest()[:8]
    return element(
        "svg",
        element("title", escape(title), id=f"t{mark}")
        + element("desc", escape(about), id=f"d{mark}")
        + content,
        xmlns="http://www.w3.org/2000/svg",
        cls="figure",
        role="img",
        aria_labelledby=f"t{mark} d{mark}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=number(width),
        height=number(height),
    )


def standalone(svg: str) -> str:
    """The figure as a file of its own, with the style that the page would give it."""
    head, rest = svg.split(">", 1)
    ground = '<rect width="100%" height="100%" style="fill: var(--paper)"/>'
    return f"{head}><style>{STYLE}</style>{ground}{rest}\n"
