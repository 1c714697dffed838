"""The algorithms from which the model chooses: with all parameters for which rules have words.

Predictions cost milliseconds, so the model tries more than `tutti tune` measures: every degree of a
tree, trees of two shapes on levels, step-by-step combining, numbers of leaders between nodes, and
more sizes of segments.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tutti.choose.candidates import HALVES, contents_of, serving
from tutti.choose.placement import Placement
from tutti.places import core

SEGMENTS = (8 << 10, 16 << 10, 24 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, HALVES)
# For each family: degrees of trees, transfers under way at once, messages that a rank sends first.
DEGREES = {"tree": (2, 3, 4, 6, 8, 16), "direct": (2, 4, 8, 16), "dissemination": (2, 3, 16)}
SHAPES = ("flat", "binomial", "binary", "4", "8")  # the shapes of the trees on levels
LEAVES = (2, 3, 4, 6)
LEADERS = (1, 2, 4)
STEPWISE = ":stepwise"
# Plans of more ranks are not compared with each other; then some are predicted twice.
MOST_COMPARED = 64


def _words(collective: str, algorithm: dict[str, Any]) -> Iterator[str]:
    """The specs of one algorithm without the word `stepwise`."""
    name, usage = algorithm["name"], algorithm["usage"]
    if "SHAPE" in usage:
        yield from (name, f"{name}:fixed", f"{name}:push", f"{name}:flat:push")
        yield from (f"{name}:{outer}:{inner}" for outer in SHAPES for inner in SHAPES)
        yield from (f"{name}:leaves={count}" for count in LEAVES)
        if collective in ("allreduce", "barrier"):
            stages = ("one_stage", "two_stage")
            yield from (f"{name}:{shape}:{word}" for shape in SHAPES for word in stages)
    elif algorithm["takes_degree"]:
        yield from (f"{name}:{degree}" for degree in DEGREES[algorithm["family"]])
    else:
        yield name
        yield from (spec for spec in algorithm["variants"] if not spec.endswith(STEPWISE))


def _flat_specs(collective: str, ranks: int) -> list[str]:
    """The specs of all algorithms that are not made of two others."""
    specs = []
    for algorithm in serving(collective, ranks):
        if algorithm["is_composed"]:
            continue
        combines = "stepwise" in algorithm["usage"] and core().combines(collective)
        for spec in _words(collective, algorithm):
            specs.append(spec)
            if combines and "push" not in spec:
                specs.append(spec + STEPWISE)
    return specs


def _between_nodes(collective: str, placement: Placement) -> list[str]:
    """`hierarchical` with each algorithm between nodes, and with numbers of leaders."""
    nodes = placement.node_count
    between = [spec for spec in _flat_specs(collective, nodes) if not spec.startswith("levels")]
    fewest = min(placement.nodes.count(node) for node in set(placement.nodes))
    return [
        f"hierarchical{f':leaders={leaders}' if leaders > 1 else ''}+{spec}"
        for leaders in LEADERS
        if leaders <= fewest
        for spec in between
    ]


@lru_cache
def specs_for_model(collective: str, placement: Placement) -> list[str]:
    """The specs to predict. If several give the same plan, only the first is listed."""
    if placement.node_count > 1:
        # A message for each pair of ranks costs too much but for long parts.
        direct = ["flat", "direct:2"] if core().parted(collective) else []
        specs = direct + _between_nodes(collective, placement)
    else:
        specs = _flat_specs(collective, placement.ranks)
    by_contents: dict[str, str] = {}
    for spec in specs:
        by_contents.setdefault(_contents(collective, spec, placement), spec)
    return list(by_contents.values())


def _contents(collective: str, spec: str, placement: Placement) -> str:
    if placement.ranks > MOST_COMPARED:
        return spec
    return contents_of(collective, spec, placement.ranks, placement.known_levels)
