"""The report's figures: bars with intervals, differences, shares, histograms, lines.

bars("Accuracy", [Bar(label="G", value=.59, low=.51, high=.67, note="n = 150")])

Each says its numbers in text as well, so that none rests on colour alone. It
draws what it is given and computes no statistic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from cotdata.report.distributions import Distribution, Lengths
from cotdata.report.svg import WIDTH, element, figure, line, number, path, rect, text

LEFT, RIGHT = 4.0, WIDTH - 14.0
INNER = RIGHT - LEFT
NUM_CHARS = 32


@dataclass(frozen=True, kw_only=True)
class Bar:
    label: str
    value: float
    low: float
    high: float
    note: str = ""


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def shortened(label: str, num_chars: int = NUM_CHARS) -> str:
    """Names differ at their ends more than in the middle."""
    if len(label) <= num_chars:
        return label
    head = num_chars // 2
    return f"{label[: head - 1]}…{label[-(num_chars - head) :]}"


def round_step(span: float, num_ticks: int = 5) -> float:
    """A step of 1, 2 or 5 times a power of ten that gives about that many ticks."""
    raw = span / num_ticks
    scale = 10.0 ** floor(log10(raw))
    return next(m * scale for m in (1, 2, 5, 10) if m * scale >= raw * 0.999)


def _scale(low: float, high: float, value: float) -> float:
    return LEFT + INNER * (value - low) / (high - low)


def _grid(low: float, high: float, top: float, bottom: float, unit: str) -> list[str]:
    step = round_step(high - low)
    parts = []
    for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1):
        x = _scale(low, high, i * step)
        parts.append(line(x, top, x, bottom, "grid"))
        end = "middle" if x < RIGHT - 8 else "end"
        anchor = end if x > LEFT + 8 else ""
        label = number(round(100 * i * step, 6)).replace("-", "−")
        parts.append(text(x, bottom + 15, f"{label}{unit}", f"soft small {anchor}".strip()))
    return parts


def _whisker(low: float, high: float, y: float) -> str:
    ends = f"M{number(low)} {number(y - 5)}v10M{number(high)} {number(y - 5)}v10"
    return path(f"M{number(low)} {number(y)}H{number(high)}{ends}", "whisker")


def bars(title: str, rows: Sequence[Bar], axis: str = "accuracy, with 95% intervals") -> str:
    """Shares from 0, the axis as long as the data needs."""
    top_value = min(1.0, max(0.05, max(row.high for row in rows) * 1.02))
    height = 46.0 * len(rows)
    parts = _grid(0, top_value, 0, height, "%")
    for i, row in enumerate(rows):
        y = 46.0 * i
        x, low, high = (_scale(0, top_value, v) for v in (row.value, row.low, row.high))
        said = f"{percent(row.value)} [{100 * row.low:.1f}, {100 * row.high:.1f}]"
        parts.append(text(LEFT, y + 15, shortened(row.label), "strong halo"))
        parts.append(text(RIGHT, y + 15, said, "end halo"))
        parts.append(rect(LEFT, y + 21, x - LEFT, 16, "c0", f"{row.label}: {said} {row.note}"))
        parts.append(_whisker(low, high, y + 29))
    parts.append(text(LEFT, height + 34, axis, "soft small"))
    about = "; ".join(
        f"{row.label} {percent(row.value)}, 95% interval {percent(row.low)} to {percent(row.high)}"
        for row in rows
    )
    return figure(title, about, height + 40, parts)


def differences(title: str, rows: Sequence[Bar]) -> str:
    """Points with intervals around a line at no difference."""
    reach = max(0.02, *(max(abs(row.low), abs(row.high)) for row in rows)) * 1.05
    height = 40.0 * len(rows)
    parts = _grid(-reach, reach, 0, height, "")
    parts.append(line(_scale(-reach, reach, 0), 0, _scale(-reach, reach, 0), height, "zero"))
    for i, row in enumerate(rows):
        y = 40.0 * i
        x, low, high = (_scale(-reach, reach, v) for v in (row.value, row.low, row.high))
        parts.append(text(LEFT, y + 14, row.label, "strong halo"))
        parts.append(text(RIGHT, y + 14, f"{points(row.value)} · {row.note}", "end halo"))
        parts.append(_whisker(low, high, y + 27))
        parts.append(element("circle", cx=x, cy=y + 27, r=4, cls="point"))
    parts.append(
        text(LEFT, height + 34, "difference of accuracies in percentage points", "soft small")
    )
    about = "; ".join(f"{row.label} {points(row.value)} points, {row.note}" for row in rows)
    return figure(title, about, height + 40, parts)


def curves(title: str, series: Mapping[str, Sequence[tuple[float, Bar]]]) -> str:
    """Lines with whiskers over a share from 0 to 1; each has its own dash and mark."""
    top, bottom, left = 8.0, 230.0, LEFT + 34
    highest = min(1.0, max(bar.high for points in series.values() for _, bar in points) * 1.05)
    step = round_step(highest)

    def at(level: float, value: float) -> tuple[float, float]:
        return left + (RIGHT - 14 - left) * level, bottom - (bottom - top) * value / highest

    parts = []
    for i in range(floor(highest / step + 1e-9) + 1):
        y = at(0, i * step)[1]
        parts.append(line(left, y, RIGHT, y, "grid"))
        parts.append(text(left - 5, y + 4, f"{number(100 * i * step)}%", "soft small end"))
    for level in (0, 0.25, 0.5, 0.75, 1):
        parts.append(text(at(level, 0)[0], bottom + 16, number(100 * level), "soft small middle"))
    for i, (name, points) in enumerate(series.items()):
        parts += _curve(i, name, points, at)
        parts.append(text(LEFT + 26, bottom + 54 + 19 * i, shortened(name, 50), "strong"))
        parts.append(_mark(i, LEFT + 12, bottom + 50 + 19 * i))
    parts.append(
        text(
            left, bottom + 34, "percent of steps edited; accuracy with 95% intervals", "soft small"
        )
    )
    about = "; ".join(
        f"{name}: " + ", ".join(f"{percent(bar.value)} at {level:g}" for level, bar in points)
        for name, points in series.items()
    )
    return figure(title, about, bottom + 46 + 19 * len(series), parts)


def _curve(
    i: int,
    name: str,
    points: Sequence[tuple[float, Bar]],
    at: Callable[[float, float], tuple[float, float]],
) -> list[str]:
    places = [at(level, bar.value) for level, bar in points]
    joined = "L".join(f"{number(x)} {number(y)}" for x, y in places)
    parts = [path(f"M{joined}", f"line s{i % 4}")]
    for (level, bar), (x, y) in zip(points, places, strict=True):
        # Whiskers of several lines at one level stand side by side.
        x += 3.0 * i
        low, high = at(level, bar.low)[1], at(level, bar.high)[1]
        parts.append(line(x, low, x, high, "whisker"))
        parts.append(_mark(i, x, y, f"{name} {level:g}: {percent(bar.value)} {bar.note}"))
    return parts


def _mark(i: int, x: float, y: float, about: str = "") -> str:
    """A round, square or pointed mark for the first, second and later lines."""
    title = element("title", escape(about)) if about else ""
    shapes = (
        f"M{number(x - 4.5)} {number(y)}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
        f"M{number(x - 4)} {number(y - 4)}h8v8h-8z",
        f"M{number(x)} {number(y - 5)}l5 9h-10z",
        f"M{number(x)} {number(y - 6)}l6 6l-6 6l-6 -6z",
    )
    return element("path", title, d=shapes[i % 4], cls=f"f{i % 4}")


def shares(
    title: str, rows: Mapping[str, Mapping[str, int]], colours: Mapping[str, str], axis: str
) -> str:
    """Bars of full length cut into shares, with the counts in the legend line of each."""
    names = [name for name in colours if any(counts.get(name) for counts in rows.values())]
    parts, y = _legend(names, colours)
    for label, counts in rows.items():
        total = sum(counts.values())
        parts.append(text(LEFT, y + 14, shortened(label), "strong"))
        parts.append(text(RIGHT, y + 14, f"{total:,}", "end soft"))
        x = LEFT
        for name in names:
            width = INNER * counts.get(name, 0) / max(total, 1)
            said = f"{label}: {counts.get(name, 0):,} of {total:,} {name}"
            parts.append(rect(x, y + 20, width, 16, colours[name], said))
            if width > 40:
                share = f"{100 * counts[name] / total:.0f}%"
                parts.append(
                    element("text", share, x=x + 4, y=y + 32.5, style="fill:#000", cls="small")
                )
            x += width
        y += 44
    parts.append(text(LEFT, y + 12, axis, "soft small"))
    about = "; ".join(
        f"{label}: " + ", ".join(f"{count:,} {name}" for name, count in counts.items())
        for label, counts in rows.items()
    )
    return figure(title, about, y + 18, parts)


def _legend(names: Sequence[str], colours: Mapping[str, str]) -> tuple[list[str], float]:
    """Keys in as many lines as they need; also where the next thing may start."""
    parts, x, y = [], LEFT, 4.0
    for name in names:
        width = 22 + 7.2 * len(name)
        if x + width > RIGHT and x > LEFT:
            x, y = LEFT, y + 20
        parts.append(rect(x, y, 11, 11, colours[name]))
        parts.append(text(x + 16, y + 10, name, "small"))
        x += width
    return parts, y + 22


def histograms(title: str, lengths: Lengths) -> str:
    """One strip per arm over one axis; strips of equal height, each of its own scale."""
    parts: list[str] = []
    num_bins = len(lengths.edges) - 1
    for i, arm in enumerate(lengths.arms):
        parts += _strip(arm, 76.0 * i, num_bins, lengths)
    bottom = 76.0 * len(lengths.arms)
    longest = lengths.edges[-1]
    for tick in range(0, longest + 1, max(1, round(round_step(longest)))):
        anchor = "end" if tick == longest else "middle" if tick else ""
        x = LEFT + INNER * tick / longest
        parts.append(text(x, bottom + 15, f"{tick:,}", f"soft small {anchor}".strip()))
    axis = f"length in {lengths.unit}; the last bar holds all that is longer"
    parts.append(text(LEFT, bottom + 33, axis, "soft small"))
    about = "; ".join(f"{arm.name}: {said_length(arm, lengths)}" for arm in lengths.arms)
    return figure(title, about, bottom + 40, parts)


def said_length(arm: Distribution, lengths: Lengths) -> str:
    return f"median {arm.median:,.0f}, 95% below {arm.p95:,.0f} {lengths.unit}, n = {arm.n:,}"


def _strip(arm: Distribution, y: float, num_bins: int, lengths: Lengths) -> list[str]:
    parts = [
        text(LEFT, y + 14, shortened(arm.name, 22), "strong"),
        text(RIGHT, y + 14, f"median {arm.median:,.0f} · n = {arm.n:,}", "end soft"),
    ]
    width, tallest = INNER / num_bins, max(arm.counts)
    for i, count in enumerate(arm.counts):
        tall = 48 * count / tallest
        said = f"{arm.name}: {count:,} from {lengths.edges[i]:,} {lengths.unit}"
        if count:
            bar = (LEFT + width * i, y + 70 - tall, max(width - 1, 0.5), tall)
            parts.append(rect(*bar, "c0", said))
    parts.append(line(LEFT, y + 70, RIGHT, y + 70, "grid"))
    return parts
