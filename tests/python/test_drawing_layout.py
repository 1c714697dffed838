"""The layout of drawings of plans: boxes, ranks, arrows and their labels."""

from collections import Counter

import pytest
from tutti.drawing import strokes
from tutti.drawing.layout import lay_out
from tutti.plan.machine import Machine

pytestmark = pytest.mark.timeout(120)
FOUR_NODES = "node:4 numa:2 core:8"


@pytest.mark.parametrize(
    "shape",
    [
        "core:7",
        "numa:2 core:5",
        FOUR_NODES,
        "cluster:3 node:5 core:3",
        "node:12 numa:2 core:2",
        "node:3 socket:2 numa:3 core:4",
        "socket:4 core:8",
    ],
)
@pytest.mark.parametrize("deal", ["block", "round_robin"])
def test_ranks_are_in_their_boxes_and_nothing_overlaps(shape, deal):
    machine = Machine.parse(shape)
    placed = machine.place(machine.cores - 1, deal)
    layout = lay_out(placed, 1.7)
    assert sorted(layout.at) == list(placed.ranks)
    assert len(set(layout.at.values())) == len(layout.at)
    for box in layout.boxes:
        inside = {
            rank
            for rank, (x, y) in layout.at.items()
            if box.x < x < box.x + box.width and box.y < y < box.y + box.height
        }
        assert inside == set(box.ranks)
        assert box.x + box.width <= layout.width + 1e-9
        assert box.y + box.height <= layout.height + 1e-9


@pytest.mark.parametrize(
    ("start", "end"), [((0, 0), (1, 0)), ((0, 0), (6, 0)), ((0, 5), (0, 0)), ((0, 0), (3, 4))]
)
def test_arrows_do_not_cross_other_ranks_of_a_row(start, end):
    arrow = strokes.Stroke(start, strokes.arched(start, end, returned=False), end, "node", 1, "1")
    first, _, last = arrow.outside(0.3)
    assert 0.29 < abs(complex(*first) - complex(*start)) < 0.35
    assert 0.29 < abs(complex(*last) - complex(*end)) < 0.35
    if start[1] == end[1] and end[0] > 1:
        assert all(arrow.point(place / 20)[1] > 0.3 for place in range(6, 15))


def test_step_labels():
    assert strokes.steps_text([3]) == "3"
    assert strokes.steps_text([5, 3, 4, 3]) == "3-5"
    assert strokes.steps_text([1, 3, 5, 7]) == "1..7"


def test_regions_are_in_rows_of_equal_length():
    layout = lay_out(Machine.parse("numa:8 core:16").place(128), 2.6, (1.2, 1.05))
    rows = Counter(box.y for box in layout.boxes if box.level == "numa")
    assert len(set(rows.values())) == 1
