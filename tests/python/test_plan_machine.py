"""Machines, and ranks placed on them."""

import pytest
import tutti.plan as tp
from tutti.errors import UserError
from tutti.places import core
from tutti.plan.machine import LEVELS


@pytest.mark.parametrize(
    ("shape", "counts"),
    [
        ("core:4", [1, 1, 1, 1, 1, 4]),
        ("node:8 core:4", [1, 8, 8, 8, 8, 32]),
        ("cluster:2 node:4 numa:2 core:8", [2, 8, 8, 16, 16, 128]),
        ("numa:2 cache:2 core:2", [1, 1, 1, 2, 4, 8]),
        ("cluster:2 node:3 numa:2 cache:2 core:1", [2, 6, 6, 12, 24, 24]),
        ("node:3", [1, 3, 3, 3, 3, 3]),
        ("node:2 socket:2 numa:2 cache:4 core:2", [1, 2, 4, 8, 32, 64]),
        ("socket:4 core:32", [1, 1, 4, 4, 4, 128]),
    ],
)
def test_a_shape_gives_the_right_numbers_of_groups(shape, counts):
    placed = tp.Machine.parse(shape).place()
    assert [len(placed.groups(level)) for level in LEVELS] == counts
    assert [
        len(groups)
        for groups in (
            placed.clusters,
            placed.nodes,
            placed.sockets,
            placed.numa,
            placed.caches,
            placed.cores,
        )
    ] == counts
    assert len(placed) == counts[-1]
    for level in LEVELS:
        assert sorted(rank for group in placed.groups(level) for rank in group.ranks) == list(
            placed.ranks
        )
        for index, group in enumerate(placed.groups(level)):
            assert (group.level, group.index) == (level, index)
            assert all(placed.group_of(rank, level) is group for rank in group.ranks)
            untold = level == "socket" and "socket" not in placed.machine.levels
            assert group.parent is None or untold or group in group.parent.children


@pytest.mark.parametrize(
    "shape",
    [
        "core:4",
        "node:8 core:4",
        "cluster:2 node:4 numa:2 core:8",
        "numa:2 cache:2 core:2",
        "socket:2 numa:2 core:4",
    ],
)
def test_a_fully_used_machine_has_its_shape(shape):
    assert tp.Machine.parse(shape).place().shape == shape
    assert tp.Machine.parse(shape).place(deal="round_robin").shape == shape


def test_the_shape_of_a_placement_counts_the_nodes_that_hold_ranks():
    machine = tp.Machine.parse("cluster:2 node:2 core:4")
    assert machine.place(8).shape == "node:2 core:4"
    assert machine.place(32).shape == "cluster:2 node:2 core:4"
    assert machine.place(3, "round_robin").shape == ""  # one cluster has two nodes, the other one


def test_the_shape_of_a_placement_leaves_out_cores_that_are_not_all_used():
    assert (
        tp.Machine.parse("cluster:2 node:2 core:4").place(4, "round_robin").shape
        == "cluster:2 node:2"
    )
    assert tp.Machine.parse("numa:2 core:8").place(4).shape == "node:1 numa:2"
    assert tp.Machine.parse("core:8").place(4).shape == "node:1"
    assert core().shapes_agree("node:1 numa:2", "node:1 numa:2 core:5")
    assert not core().shapes_agree("node:1 numa:2", "node:1 numa:1 core:5")


def test_deals():
    machine = tp.Machine.parse("node:4 core:2")
    assert [list(node.ranks) for node in machine.place(8).nodes] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [list(node.ranks) for node in machine.place(8, "round_robin").nodes] == [
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
    ]
    assert [list(node.ranks) for node in machine.place(3).nodes] == [[0, 1], [2]]
    assert [list(node.ranks) for node in machine.place(3, "round_robin").nodes] == [[0], [1], [2]]
    assert [list(node.ranks) for node in machine.place(deal=[7, 0, 6]).nodes] == [[1], [0, 2]]
    oversubscribed = machine.place(16)
    assert [list(node.ranks) for node in oversubscribed.nodes][0] == [0, 1, 2, 3]
    assert [list(core.ranks) for core in oversubscribed.cores][:2] == [[0, 1], [2, 3]]
    dealt = machine.place(16, "round_robin")
    assert [list(core.ranks) for core in dealt.cores][:2] == [[0, 4], [8, 12]]


def test_levels_between_ranks():
    placed = tp.Machine.parse("cluster:2 node:2 numa:2 cache:2 core:2").place()
    found = [placed.level(0, other) for other in (0, 1, 2, 4, 8, 16)]
    assert found == ["core", "cache", "numa", "node", "cluster", "machine"]
    sockets = tp.Machine.parse("node:2 socket:2 numa:2 core:2").place()
    assert [sockets.level(0, other) for other in (1, 2, 4, 8)] == [
        "numa",
        "socket",
        "node",
        "cluster",
    ]
    regions = tp.Machine.parse("socket:2 numa:1 core:2").place()
    assert [regions.level(0, other) for other in (1, 2)] == ["numa", "node"]
    plain = tp.Machine.parse("node:2 core:2").place()
    assert [plain.level(0, other) for other in (1, 2)] == ["node", "cluster"]


def test_this_machine_and_a_recording(tmp_path, recorded_machine):
    here = tp.Machine.this()
    assert here.cores >= 1 and here.nodes == 1
    assert len(here.place(5)) == 5
    with pytest.raises(UserError, match="none.xml"):
        tp.Machine.from_xml(tmp_path / "none.xml")
    recorded = tp.Machine.from_xml(recorded_machine).place()
    assert [list(region.ranks) for region in recorded.numa] == [[0, 1], [2, 3]]
    assert recorded.shape == tp.Machine.parse("numa:2 core:2").place().shape


def test_sockets_that_are_not_described_are_not_between_node_and_region():
    placed = tp.Machine.parse("node:2 numa:2 core:2").place()
    node, socket = placed.nodes[1], placed.sockets[1]
    assert [region.level for region in node.children] == [
        "numa",
        "numa",
    ] and node.children == socket.children
    assert node.children[0].parent is node and socket.parent is node
    told = tp.Machine.parse("node:2 socket:2 numa:2 core:2").place().nodes[1]
    assert [group.level for group in told.children] == ["socket", "socket"]
    assert [region.parent for region in told.children[0].children] == [told.children[0]] * 2


def sockets_in_one_region(groups, cores):
    """A file like those of lstopo: sockets of consecutive cores in one NUMA region."""
    numbers = iter(range(1, 1000))

    def written(kind, index, first, count, inside, more=""):
        cpus, memory = hex(((1 << count) - 1) << first), "0x1"
        sets = f'cpuset="{cpus}" complete_cpuset="{cpus}" nodeset="{memory}" complete_nodeset="{memory}"'
        return f'<object type="{kind}" os_index="{index}" gp_index="{next(numbers)}" {sets} {more}>{inside}</object>'

    text = ""
    for index, (first, count) in enumerate(groups):
        inside = "".join(
            written("Core", at, at, 1, written("PU", at, at, 1, ""))
            for at in range(first, first + count)
        )
        text += written("Package", index, first, count, inside)
    whole = written("NUMANode", 0, 0, cores, "", 'local_memory="1048576"') + text
    machine = written(
        "Machine",
        0,
        0,
        cores,
        whole,
        f'allowed_cpuset="{hex((1 << cores) - 1)}" allowed_nodeset="0x1"',
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<topology version="2.0">{machine}</topology>\n'


def test_sockets_in_one_region_are_found(tmp_path):
    file = tmp_path / "old.xml"
    file.write_text(sockets_in_one_region([(0, 4), (4, 4)], 8))
    placed = tp.Machine.from_xml(file).place()
    assert [list(socket.ranks) for socket in placed.sockets] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert [placed.level(0, other) for other in (3, 4)] == ["socket", "node"]
    assert "socket:0,0,0,0,1,1,1,1" in placed.levels() and "numa" not in placed.levels()
    assert placed.shape == "socket:2 core:4" == tp.Machine.parse("socket:2 core:4").place().shape


@pytest.mark.parametrize(
    "shape",
    [
        "",
        "core",
        "core:0",
        "numa:2 node:3",
        "numa:2 socket:2",
        "core:1 core:2",
        "node:2000 core:4096",
        "pu:3",
        "core:-1",
        "core:99999999999",
    ],
)
def test_wrong_shapes_are_refused(shape):
    with pytest.raises(UserError) as caught:
        tp.Machine.parse(shape)
    assert "\n" not in str(caught.value)


def test_wrong_deals_are_refused():
    machine = tp.Machine.parse("node:2 core:2")
    for arguments in ((0,), (4, "diagonal"), (2, [0, 9]), (3, [0, 1]), (None, [])):
        with pytest.raises(UserError):
            machine.place(*arguments)


def test_sequences_of_ranks():
    ranks = tp.Ranks(range(10))
    assert [list(run) for run in ranks.split(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert [list(run) for run in ranks.runs(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert tp.Ranks([4]).split(3) == [tp.Ranks([4])]
    assert tp.Ranks().split(2) == []
    assert (ranks.lead, ranks.leader(7), ranks.leader(99)) == (0, 7, 0)
    assert list(ranks[2:4]) == [2, 3] and ranks[-1] == 9 and 5 in ranks and 11 not in ranks
    assert list(ranks[:4].without(1, 2)) == [0, 3]
    for wrong in (lambda: ranks.split(0), lambda: ranks.runs(0), lambda: tp.Ranks().lead):
        with pytest.raises(UserError):
            wrong()


def test_thousands_of_ranks_are_placed_quickly():
    placed = tp.Machine.parse("node:128 numa:2 core:16").place(4096, "round_robin")
    assert (len(placed.numa), placed.shape) == (256, "node:128 numa:2 core:16")
