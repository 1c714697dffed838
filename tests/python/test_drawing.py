"""`tutti plan draw`: numbers, the structure of drawings, notes on what is left out, and errors."""

import json
import random
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path

import pytest
from tutti.drawing import flow, tree
from tutti.drawing.graph import graph_of, parents
from tutti.drawing.panels import panels
from tutti.places import core
from tutti.plan.machine import Machine

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def lam(tmp_path: Path) -> str:
    """LAM's logarithmic allreduce of 32 ranks.

    A rank's parent is the rank without its lowest bit in the reduce, without its highest in the
    bcast.
    """
    reduce = [
        line
        for line in core().generate("reduce", "binomial", 32, 0).text.splitlines()
        if line.startswith("reduce ")
    ]
    bcast = [
        f"copy out[{rank}] <- out[{rank - (1 << rank.bit_length() - 1)}]" for rank in range(1, 32)
    ]
    file = tmp_path / "lam.plan"
    file.write_text(
        "\n".join(["tutti-plan 1", "collective allreduce", "ranks 32", "blocks 1", *reduce, *bcast])
        + "\n"
    )
    return str(file)


def graph(collective: str, algorithm: str, ranks: int, shape: str = "", deal: str = "block"):
    placed = Machine.parse(shape or f"core:{ranks}").place(ranks, deal)
    return graph_of(core().generate(collective, algorithm, ranks, 0), placed)


def elements(file: Path) -> list[str]:
    return [element.get("id", "") for element in xml.parse(file).iter()]


def texts(file: Path) -> str:
    return "\n".join(
        element.text or "" for element in xml.parse(file).iter() if element.tag.endswith("text")
    )


# --- The numbers of figures 2 and 3 of the PATHS paper.


@pytest.mark.parametrize(("deal", "up", "down"), [("round_robin", 28, 7), ("block", 7, 28)])
def test_lam_trees_have_as_many_messages_between_nodes_as_in_the_paper(tutti, lam, deal, up, down):
    said = tutti("plan", "draw", lam, "--shape", "node:8 core:4", "--deal", deal, "--json")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert found["phases"]["reduce"] == {
        "messages": {"node": 31 - up, "cluster": up},
        "depth": 5,
        "children": 5,
    }
    assert found["phases"]["bcast"] == {
        "messages": {"node": 31 - down, "cluster": down},
        "depth": 5,
        "children": 5,
    }
    assert found["messages"] == {"node": 27, "cluster": 35}
    assert found["depth"] == 10
    pairs = {
        (edge["source"], edge["target"]) for edge in found["edges"] if edge["phase"] == "reduce"
    }
    assert {(13, 12), (14, 12), (12, 8)} <= pairs
    assert [edge["reach"] for edge in found["edges"]].count("net") == 35


def test_the_drawing_has_an_arrow_for_each_message_and_the_sums_in_its_caption(
    tutti, lam, tmp_path
):
    file = tmp_path / "figure3.svg"
    said = tutti(
        "plan", "draw", lam, "--shape", "node:8 core:4", "--deal", "round_robin", "-o", str(file)
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, "", "")
    ids = elements(file)
    levels = Counter(name.split("-")[1] for name in ids if name.startswith("edge-"))
    assert levels == {"cluster": 28 + 7, "node": 3 + 24}
    # Reduce and bcast each have a panel of their own.
    assert len([name for name in ids if name.startswith("box-node-")]) == 2 * 8
    assert "reduce: 28 between nodes, 3 within a node; depth 5; at most 5 children" in texts(file)
    assert "bcast: 7 between nodes, 24 within a node; depth 5; at most 5 children" in texts(file)


def test_the_tree_of_the_paper_is_below_its_root(tutti, tmp_path):
    up = parents(graph("reduce", "binomial", 32), "reduce")
    assert up is not None and up[12] == 8 and up[8] == 0 and 0 not in up
    layout = tree.tree_layout(up)
    heights = {rank: y for rank, (_, y) in layout.at.items()}
    assert all(heights[child] > heights[parent] for child, parent in up.items())
    places = sorted(layout.at.values(), key=lambda place: (place[1], place[0]))
    assert all(b[1] > a[1] or b[0] - a[0] > 0.7 for a, b in zip(places, places[1:], strict=False))
    file = tmp_path / "figure2.svg"
    assert (
        tutti(
            "plan", "draw", "reduce", "--algorithm", "binomial", "--ranks", "32", "-o", str(file)
        ).returncode
        == 0
    )
    assert not [name for name in elements(file) if name.startswith("box-")]
    assert len([name for name in elements(file) if name.startswith("edge-node-")]) == 31


@pytest.mark.parametrize(
    ("shape", "pair", "level"),
    [
        ("core:4", (0, 1), "node"),
        ("numa:2 core:4", (0, 1), "numa"),
        ("numa:2 core:4", (0, 4), "node"),
        ("socket:2 numa:2 core:2", (0, 2), "socket"),
        ("socket:2 numa:2 core:2", (0, 4), "node"),
        ("node:2 numa:2 cache:2 core:2", (0, 1), "cache"),
        ("node:2 numa:2 cache:2 core:2", (0, 8), "cluster"),
        ("cluster:2 node:2 core:4", (0, 4), "cluster"),
        ("cluster:2 node:2 core:4", (0, 8), "machine"),
        ("core:2", (0, 1), "core"),
    ],
)
def test_levels(shape, pair, level):
    ranks = 4 if shape == "core:2" else Machine.parse(shape).cores
    shown = graph("reduce", "flat", ranks, shape)
    found = {(message.target, message.source): message.level for message in shown.messages}
    assert found[pair] == level


def test_phases_are_distinguished():
    for algorithm in ("flat", "binomial", "nary:4", "tiled"):
        shown = graph("allreduce", algorithm, 8)
        assert list(shown.phases) == ["reduce", "bcast"], algorithm
        assert shown.phases["reduce"].messages == shown.phases["bcast"].messages
    # The ranks' copies into their own tmp count as steps but not as hand-overs.
    tiled = graph("allreduce", "tiled", 8)
    assert (tiled.sums.depth, max(event.step for event in tiled.events)) == (2, 3)
    assert list(graph("allreduce", "all_read_all", 8).phases) == ["reduce"]
    assert list(graph("barrier", "binomial", 8).phases) == ["reduce", "bcast"]
    assert list(graph("bcast", "binomial", 8).phases) == ["bcast"]
    assert graph("reduce", "flat", 1).phases == {}


# --- Steps: transfers of one step can run at the same time.


@pytest.mark.parametrize(
    ("collective", "algorithm"),
    [
        ("allreduce", "tiled"),
        ("allreduce", "all_read_all"),
        ("allreduce", "nary:3"),
        ("bcast", "binomial"),
        ("barrier", "flat"),
        ("gather", "binomial"),
        ("scatter", "nary:3"),
        ("allgather", "ring"),
        ("alltoall", "direct:4"),
        ("reduce_scatter", "direct:2"),
        ("scan", "chain"),
        ("exscan", "chain"),
    ],
)
def test_transfers_of_one_step_can_run_in_any_order(collective, algorithm):
    shown = graph(collective, algorithm, 12)
    want = {cell: content for event in shown.events for cell, content in event.written}
    shuffled = random.Random(3).sample(shown.events, len(shown.events))
    order = sorted(shuffled, key=lambda event: event.step)
    assert [event.number for event in order] != [event.number for event in shown.events]
    again = flow.follow(shown.plan, [shown.transfers[event.number] for event in order])
    assert {cell: content for event in again for cell, content in event.written} == want
    definition = shown.plan.definition
    results = [
        (rank, block)
        for rank in range(1, 12)
        if definition.has_out(rank)
        for block in range(definition.out_blocks)
    ]
    results += [(0, block) for block in range(definition.out_blocks) if collective == "gather"]
    assert len(results) > 0
    assert all(
        want[rank, "out", block] == flow.at_end(definition, rank, block) for rank, block in results
    )


def test_a_drawing_counts_only_steps_that_it_shows():
    """In the first step of all_read_all ranks copy their own data; flat's first step is a reduce."""
    for algorithm, said in (("all_read_all", "all in step 1"), ("flat", "all in step 2")):
        assert panels(graph("allreduce", algorithm, 4), "machine")[-1].shown.note == said


def test_a_block_is_read_before_it_is_overwritten(tmp_path):
    text = (
        "tutti-plan 1\ncollective reduce\nranks 3\nblocks 1\ncopy tmp[0] <- in[1]\ncopy tmp[1] "
        "<- tmp[0]\ncopy tmp[0] <- in[2]\n"
    )
    plan = core().read_plan(text + "reduce out[0] <- in[0], tmp[1], tmp[0]\n", "ring")
    events = graph_of(plan, Machine.parse("core:3").place(3)).events
    assert [event.step for event in events] == [1, 2, 3, 4]
    assert [event.hops for event in events] == [1, 2, 1, 3]


# --- Sizes, and drawings with very many arrows.


@pytest.mark.parametrize("ranks", [1, 4, 128])
@pytest.mark.parametrize("algorithm", ["flat", "binomial", "tiled", "all_read_all"])
def test_drawings_of_all_sizes_are_written(tutti, tmp_path, ranks, algorithm):
    from matplotlib.image import imread

    file = tmp_path / "drawing.png"
    plan = ("allreduce", "--algorithm", algorithm, "--ranks", str(ranks))
    said = tutti("plan", "draw", *plan, "--shape", "node:8 core:16", "-o", str(file))
    assert (said.returncode, said.stderr) == (0, "")
    pixels = imread(file)
    assert 300 < pixels.shape[0] < 4000
    assert 300 < pixels.shape[1] < 4000
    # The background is white, and ranks are black.
    assert pixels[:, :, :3].max() == 1.0
    assert pixels[:, :, :3].min() < 0.3


def test_too_many_arrows_are_shown_as_a_matrix_with_a_note(tutti, tmp_path):
    file = tmp_path / "crowd.svg"
    said = tutti(
        "plan",
        "draw",
        "allreduce",
        "--algorithm",
        "all_read_all",
        "--ranks",
        "128",
        "-o",
        str(file),
        "--json",
    )
    assert said.returncode == 0, said.stderr
    assert "16,256 messages: the arrows show those to rank 0, the matrix all" in texts(file)
    assert len([name for name in elements(file) if name.startswith("edge-")]) == 127
    # The JSON has all messages.
    found = json.loads(said.stdout)
    assert len(found["edges"]) == sum(found["messages"].values()) == 16256
    assert [node["rank"] for node in found["nodes"]] == list(range(128))


def test_two_drawings_of_a_plan_are_the_same(tutti, tmp_path):
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        said = tutti(
            "plan",
            "draw",
            "bcast",
            "--algorithm",
            "nary:3",
            "--ranks",
            "20",
            "--root",
            "7",
            "-o",
            str(file),
        )
        assert said.returncode == 0, said.stderr
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_tree_on_several_nodes_shows_each_ranks_node(tutti, lam, tmp_path):
    file = tmp_path / "tree.svg"
    assert (
        tutti(
            "plan", "draw", lam, "--shape", "node:8 core:4", "--layout", "tree", "-o", str(file)
        ).returncode
        == 0
    )
    assert texts(file).splitlines().count("node 7") == 2 * 4


# --- Input.


def test_a_plan_from_stdin(tutti):
    text = core().generate("reduce", "flat", 3, 1).text
    said = tutti("plan", "draw", "-", "--json", stdin=text)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["root"] == 1


def test_the_shape_of_a_plan_is_the_machine_unless_another_is_given(tutti):
    text = (
        core()
        .generate("reduce", "flat", 4, 0)
        .text.replace("blocks 1", "blocks 1\nshape node:2 core:2")
    )
    assert json.loads(tutti("plan", "draw", "-", "--json", stdin=text).stdout)["messages"] == {
        "node": 1,
        "cluster": 2,
    }
    other = json.loads(tutti("plan", "draw", "-", "--json", "--shape", "core:4", stdin=text).stdout)
    assert other["messages"] == {"node": 3}


def test_reduces_in_order_of_arrival_are_counted(tutti, tmp_path):
    file = tmp_path / "arrival.svg"
    text = (
        core()
        .generate("reduce", "flat", 4, 0)
        .text.replace("reduce out", "reduce any out")
        .replace("blocks", "commutative yes\nblocks")
    )
    said = tutti("plan", "draw", "-", "-o", str(file), stdin=text)
    assert (said.returncode, said.stderr) == (0, "")
    assert "Number of reduces that take their sources in the order of arrival: 1." in texts(file)


def test_a_wrong_plan_is_drawn_with_a_warning(tutti, tmp_path):
    file = tmp_path / "wrong.plan"
    file.write_text(
        "tutti-plan 1\ncollective allreduce\nranks 2\nblocks 1\nreduce out[0] <- in[0], "
        "in[1]\ncopy out[1] <- tmp[0]\n"
    )
    said = tutti("plan", "draw", str(file), "-o", str(tmp_path / "wrong.svg"))
    assert said.returncode == 0
    assert said.stderr.startswith("tutti: warning: the check refuses this plan: ")
    assert said.stderr.count("\n") == 1
    assert (tmp_path / "wrong.svg").stat().st_size > 1000


@pytest.mark.parametrize("suffix", [".svg", ".png"])
@pytest.mark.parametrize("name", ["$\\frac$ & <b> $x", "a" * 128])
def test_names_are_shown_as_plain_text(tutti, tmp_path, name, suffix):
    file = tmp_path / f"named{suffix}"
    text = (
        core().generate("reduce", "flat", 3, 0).text.replace("algorithm flat", f"algorithm {name}")
    )
    said = tutti("plan", "draw", "-", "-o", str(file), stdin=text)
    assert (said.returncode, said.stderr) == (0, "")
    assert 0 < file.stat().st_size < 200_000
    if suffix == ".svg":
        assert f"reduce {name[:60]}" in texts(file)


BINOMIAL = ("reduce", "--algorithm", "binomial")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((*BINOMIAL, "--ranks", "4"), 2, "give -o FILE.svg, -o FILE.png or --json"),
        ((*BINOMIAL, "--ranks", "4", "-o", "x.gif"), 2, "'x.gif' does not end in .svg or .png"),
        (
            (*BINOMIAL, "--ranks", "4", "-o", "/no/such/directory/x.svg"),
            2,
            "cannot write '/no/such/directory/x.svg'",
        ),
        ((*BINOMIAL, "--ranks", "0", "--json"), 2, "--ranks: 0 is out of range"),
        (
            (*BINOMIAL, "--ranks", "1025", "--json"),
            2,
            "--ranks: 1025 is out of range; give 1 to 1024",
        ),
        ((*BINOMIAL, "--ranks", "4", "--root", "4", "--json"), 2, "--root: 4 is out of range"),
        ((*BINOMIAL, "--json"), 2, "give --algorithm and --ranks"),
        ((*BINOMIAL, "--ranks", "4", "--shape", "node:x", "--json"), 2, "node:x"),
        (
            (*BINOMIAL, "--ranks", "4", "--deal", "cards", "--json"),
            2,
            "--deal: 'cards' is neither block nor round_robin",
        ),
        (
            (*BINOMIAL, "--ranks", "4", "--layout", "round", "--json"),
            2,
            "--layout: 'round' is unknown",
        ),
        (
            (
                "allreduce",
                "--algorithm",
                "tiled",
                "--ranks",
                "4",
                "--layout",
                "tree",
                "-o",
                "x.svg",
            ),
            2,
            "give --layout machine",
        ),
        (("allreduce", "--algorithm", "tile", "--ranks", "4", "--json"), 2, "tile"),
        (("no-such.plan", "--json"), 2, "cannot read 'no-such.plan'"),
        (
            ("no-such.plan", "--ranks", "4", "--json"),
            2,
            "leave --algorithm, --ranks and --root out",
        ),
    ],
)
def test_errors_are_one_line(tutti, arguments, code, words):
    said = tutti("plan", "draw", *arguments)
    assert said.returncode == code, said.stderr
    assert said.stderr.startswith("tutti: ")
    assert said.stderr.count("\n") == 1
    assert words in said.stderr


def test_a_plan_that_touches_too_many_blocks_is_refused():
    text = (
        "tutti-plan 1\ncollective reduce\nranks 1\n"
        + 4 * f"copy tmp[0].0+{1 << 18} <- tmp[0].{1 << 18}+{1 << 18}\n"
    )
    with pytest.raises(
        flow.UserError,
        match="the plan's transfers touch 2097152 blocks, but at most 1000000 can be drawn",
    ):
        graph_of(core().read_plan(text), Machine.parse("core:1").place(1))


def test_drawings_of_plans_with_parts(tutti, tmp_path):
    """A drawing has the caption, the root, and the text of each phase."""
    file = tmp_path / "parts.svg"
    for collective, algorithm, root, phase, sums in (
        (
            "gather",
            "binomial",
            2,
            "gather: the parts to the root",
            "8 within a node; depth 3; at most 4 children",
        ),
        (
            "scatter",
            "flat",
            8,
            "scatter: each part to its rank",
            "8 within a node; depth 1; at most 8 children",
        ),
        (
            "allgather",
            "ring",
            None,
            "allgather: every part to all",
            "72 within a node; depth 8; at most 1 source",
        ),
        (
            "alltoall",
            "direct",
            None,
            "alltoall: each part to its rank",
            "72 within a node; depth 1; at most 8 sources",
        ),
        (
            "reduce_scatter",
            "direct",
            None,
            "reduce: towards the result",
            "72 within a node; depth 1; at most 8 children",
        ),
        (
            "scan",
            "chain",
            None,
            "scan: to the ranks above",
            "8 within a node; depth 8; at most 1 child",
        ),
        (
            "exscan",
            "all_read_all",
            None,
            "exscan: to the ranks above",
            "36 within a node; depth 1; at most 8 children",
        ),
    ):
        said = tutti(
            "plan",
            "draw",
            collective,
            "--algorithm",
            algorithm,
            "--ranks",
            "9",
            "-o",
            str(file),
            "--json",
            *([] if root is None else ["--root", str(root)]),
        )
        assert (said.returncode, said.stderr) == (0, ""), collective
        assert f"messages: {sums}" in texts(file), collective
        assert phase in texts(file), collective
        assert (f"root {root}" in texts(file)) == (root is not None), collective
        assert list(json.loads(said.stdout)["phases"]) == [phase.split(":")[0]]


def test_a_reduce_scatter_that_combines_at_one_rank_has_two_phases():
    text = (
        "tutti-plan 1\ncollective reduce_scatter\nranks 3\nreduce tmp[0].0+3 <- in[0].0+3, "
        "in[1].0+3, in[2].0+3\n"
    )
    text += "".join(f"copy out[{rank}] <- tmp[0].{rank}\n" for rank in range(3))
    shown = graph_of(core().read_plan(text), Machine.parse("core:3").place(3))
    assert {phase: sums.messages for phase, sums in shown.phases.items()} == {
        "reduce": 2,
        "scatter": 2,
    }
    assert parents(shown, "reduce") == parents(shown, "scatter") == {1: 0, 2: 0}


def test_a_long_chain_is_drawn_in_boxes_and_a_short_one_as_a_tree(tutti, tmp_path):
    for ranks, boxes in ((12, 0), (40, 1)):
        file = tmp_path / "chain.svg"
        assert (
            tutti(
                "plan",
                "draw",
                "scan",
                "--algorithm",
                "chain",
                "--ranks",
                str(ranks),
                "-o",
                str(file),
            ).returncode
            == 0
        )
        assert len([name for name in elements(file) if name.startswith("box-node")]) == boxes
