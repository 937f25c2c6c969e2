"""The lineage as a picture: steps in layers, each below all that it was made from.

lineage_figure("Lineage", report.steps, {"filter-1f0c…": "G"})

Edges that skip layers get a lane of their own in each, so that no line runs
through a box. The order within a layer is the mean place of the neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cotdata.manifest import Step
from cotdata.report.charts import shortened
from cotdata.report.svg import WIDTH, figure, number, path, rect, text

BOX, TALL, GAP, LANE, BETWEEN = 132.0, 46.0, 14.0, 12.0, 34.0
NUM_SWEEPS = 8

Edge = tuple[str, str]


@dataclass(kw_only=True)
class Layout:
    """`layers` hold node ids and lanes; `chains` the stations of each edge."""

    layers: list[list[str]]
    chains: dict[Edge, list[str]]
    x: dict[str, float] = field(default_factory=dict)

    def y(self, layer: int) -> float:
        return 2 + layer * (TALL + BETWEEN)


def lineage_figure(title: str, steps: Sequence[Step], names: Mapping[str, str]) -> str:
    """`names` are the ids of the datasets that the report is about."""
    by_id = {step.id: step for step in steps}
    edges = list(dict.fromkeys((parent["id"], s.id) for s in steps for parent in s.parents))
    layout = place(list(by_id), edges)
    sources = {parent["id"]: parent["stage"] for step in steps for parent in step.parents}
    width = max(WIDTH, *(x + BOX for x in layout.x.values()), 0.0) if layout.x else WIDTH
    parts = [_edge(layout, chain) for chain in layout.chains.values()]
    for layer, nodes in enumerate(layout.layers):
        for node in nodes:
            if not _is_lane(node):
                corner = (layout.x[node], layout.y(layer))
                parts.append(_box(node, by_id.get(node) or sources[node], names.get(node), corner))
    about = "; ".join(f"{child} from {parent}" for parent, child in edges) or "one step"
    return figure(title, about, layout.y(len(layout.layers)) - BETWEEN + 2, parts, width + 4)


def _box(node: str, made_by: Step | str, name: str | None, corner: tuple[float, float]) -> str:
    """A step, or what came from outside with the kind of thing it is."""
    x, y = corner
    if isinstance(made_by, str):
        label, said, about = name or node, made_by, node
    else:
        stage, rows = made_by.stage, f"{made_by.fates.written:,} rows"
        label = name or stage
        said = f"{stage if name else node.rpartition('-')[2][:7]} · {rows}"
        about = f"{node}: {made_by.command}"
    frame = rect(x, y, BOX, TALL, f"box {'shown' if name else ''}".strip(), about)
    return (
        frame
        + text(x + 8, y + 18, shortened(label, 15), "strong")
        + text(x + 8, y + 35, shortened(said, 21), "soft small")
    )


def _edge(layout: Layout, chain: list[str]) -> str:
    layer_of = {node: i for i, nodes in enumerate(layout.layers) for node in nodes}
    d = ""
    for above, below in pairwise(chain):
        x1, y1 = layout.x[above] + _width(above) / 2, layout.y(layer_of[above]) + TALL
        x2, y2 = layout.x[below] + _width(below) / 2, layout.y(layer_of[below])
        bend = f"C{number(x1)} {number(y1 + 20)} {number(x2)} {number(y2 - 20)}"
        start = f"L{number(x1)} {number(y1)}" if d else f"M{number(x1)} {number(y1)}"
        d += f"{start}{bend} {number(x2)} {number(y2)}"
    return path(d, "edge")


def place(nodes: Sequence[str], edges: Sequence[Edge]) -> Layout:
    layer_of = _layers(nodes, edges)
    layers: list[list[str]] = [[] for _ in range(max(layer_of.values(), default=0) + 1)]
    for node, layer in layer_of.items():
        layers[layer].append(node)
    chains = {}
    for parent, child in edges:
        between = range(layer_of[parent] + 1, layer_of[child])
        lanes = [f"\0{parent}\0{child}\0{layer}" for layer in between]
        for layer, lane in zip(between, lanes, strict=True):
            layers[layer].append(lane)
        chains[parent, child] = [parent, *lanes, child]
    layout = Layout(layers=layers, chains=chains)
    _order(layout)
    _spread(layout)
    return layout


def _layers(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """The longest way from a source; a source itself sits just above its first child."""
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    for parent, child in edges:
        parents.setdefault(parent, [])
        parents[child].append(parent)
    depth: dict[str, int] = {}

    def depth_of(node: str) -> int:
        if node not in depth:
            depth[node] = max((depth_of(parent) + 1 for parent in parents[node]), default=0)
        return depth[node]

    for node in parents:
        depth_of(node)
    for node in [node for node, above in parents.items() if not above]:
        below = [depth[child] for parent, child in edges if parent == node]
        depth[node] = min(below, default=1) - 1
    return depth


def _order(layout: Layout) -> None:
    """Sort each layer by the mean place of its neighbours, down and up in turn."""
    links = [pair for chain in layout.chains.values() for pair in pairwise(chain)]
    for sweep in range(NUM_SWEEPS):
        down = sweep % 2 == 0
        layers = layout.layers if down else layout.layers[::-1]
        for fixed, moved in pairwise(layers):
            at = {node: (i + 0.5) / len(fixed) for i, node in enumerate(fixed)}
            near: dict[str, list[float]] = {node: [] for node in moved}
            for above, below in links:
                one, other = (above, below) if down else (below, above)
                if other in near and one in at:
                    near[other].append(at[one])
            own = {node: (i + 0.5) / len(moved) for i, node in enumerate(moved)}
            moved.sort(key=lambda n: sum(near[n]) / len(near[n]) if near[n] else own[n])


def _spread(layout: Layout) -> None:
    widths = [sum(_width(node) + GAP for node in nodes) - GAP for nodes in layout.layers]
    widest = max([*widths, WIDTH - 4])
    for nodes, width in zip(layout.layers, widths, strict=True):
        x = 2 + (widest - width) / 2
        for node in nodes:
            layout.x[node] = x
            x += _width(node) + GAP


def _is_lane(node: str) -> bool:
    return node.startswith("\0")


def _width(node: str) -> float:
    return LANE if _is_lane(node) else BOX
