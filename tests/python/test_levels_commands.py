"""Algorithms on the machine's levels, in the commands, the tuner and the plan language."""

import json

import pytest
import tutti.plan as tp
from tutti.choose import candidates
from tutti.places import core
from tutti.plan.machine import Machine

ROUND_ROBIN = [0, 4, 1, 5, 2, 6, 3, 7]


def test_levels_are_those_of_the_placed_ranks():
    machine = Machine.parse("numa:2 core:4")
    assert "numa:0,1,0,1" in machine.place(4, [0, 4, 1, 5]).levels()
    assert "numa:1,0" in machine.place(8, ROUND_ROBIN).levels([1, 2])


def test_show_writes_a_plan_for_the_given_machine(tutti):
    arguments = ("plan", "show", "bcast", "--algorithm", "levels", "--ranks", "4")
    flat = tutti(*arguments)
    assert flat.returncode == 0 and "copy out[3] <- in[0]" in flat.stdout
    dealt = tutti(*arguments, "--shape", "numa:2 core:2", "--deal", "0,2,1,3")
    assert dealt.returncode == 0, dealt.stderr
    assert "copy out[1] <- in[0]" in dealt.stdout and "copy out[3] <- out[1]" in dealt.stdout


def test_a_file_has_its_machine_already(tutti, tmp_path):
    file = tmp_path / "my.plan"
    file.write_text(core().generate("bcast", "flat", 4).text)
    done = tutti("plan", "show", str(file), "--shape", "numa:2 core:2")
    assert (
        done.returncode == 2 and "leave --algorithm, --ranks, --root and --shape out" in done.stderr
    )


def test_sockets_are_a_level_unless_they_are_regions(tutti):
    machine = Machine.parse("socket:2 numa:2 core:2")
    assert "socket:0,0,0,0,1,1,1,1 numa:0,0,1,1,2,2,3,3" in machine.place().levels()
    arguments = (
        "explain",
        "bcast",
        "--bytes",
        "64K",
        "--ranks",
        "8",
        "--no-oversubscribed",
        "--json",
        "--shape",
    )
    for shape, levels in (
        ("socket:2 numa:2 core:2", "socket:0,0,0,0,1,1,1,1 numa:0,0,1,1,2,2,3,3"),
        ("socket:2 numa:1 core:4", "numa:0,0,0,0,1,1,1,1"),
        ("socket:2 core:4", "socket:0,0,0,0,1,1,1,1"),
    ):
        found = json.loads(tutti(*arguments, shape).stdout)
        assert (found["levels"], found["runs"]) == (levels, "levels:flat")
    drawn = tutti(
        "plan",
        "draw",
        "bcast",
        "--algorithm",
        "levels:flat",
        "--ranks",
        "8",
        "--shape",
        "socket:2 numa:2 core:2",
        "--json",
    )
    assert json.loads(drawn.stdout)["messages"] == {"numa": 4, "socket": 2, "node": 1}, drawn.stderr


def test_draw_shows_the_levels_of_messages(tutti):
    arguments = (
        "plan",
        "draw",
        "reduce",
        "--ranks",
        "8",
        "--shape",
        "numa:2 core:4",
        "--deal",
        "0,4,1,5,2,6,3,7",
        "--json",
    )
    crossings = {}
    for name in ("levels:binomial", "binomial"):
        done = tutti(*arguments, "--algorithm", name)
        assert done.returncode == 0, done.stderr
        plan = core().generate(
            "reduce", name, 8, 0, Machine.parse("numa:2 core:4").place(8, ROUND_ROBIN).levels()
        )
        crossings[name] = sum(source % 2 != target % 2 for source, target, _ in plan.edges)
    assert crossings["levels:binomial"] == 1 < crossings["binomial"]


def test_list_shows_the_parameters_of_algorithms(tutti):
    listed = json.loads(tutti("plan", "list", "--json").stdout)["algorithms"]
    usages = {one["name"]: one["usage"] for one in listed}
    assert usages["nary"] == "nary:N[:stepwise]" and usages["flat"] == "flat"
    words = "[:stepwise][:fixed][:one_stage][:two_stage][:push][:subphases=C]"
    assert usages["levels"] == f"levels[:SHAPE][:SHAPE]{words}"
    assert usages["hierarchical"] == "hierarchical[:leaders=K][+BETWEEN[+WITHIN]]"


def test_explain_asks_rules_for_the_levels_of_a_shape(tutti):
    arguments = (
        "explain",
        "allreduce",
        "--bytes",
        "1M",
        "--ranks",
        "16",
        "--no-oversubscribed",
        "--json",
    )
    assert json.loads(tutti(*arguments).stdout)["runs"] == "tiled"
    found = json.loads(tutti(*arguments, "--shape", "numa:2 core:8").stdout)
    assert found["runs"] == "ring" and found["levels"].startswith("numa:0,0,0")


def test_explain_says_why_an_algorithm_cannot_serve(tutti):
    found = json.loads(
        tutti("explain", "allreduce", "--bytes", "8", "--ranks", "4", "--json",
              environment={"TUTTI_ALGORITHM_ALLREDUCE": "dissemination"}).stdout
    )  # fmt: skip
    assert found["considered"][0]["refused"].startswith("its ranks evaluate different expressions")
    assert found["chosen"] > 0 and found["runs"] != "dissemination"


def test_the_tuner_tries_algorithms_that_serve_and_differ(monkeypatch):
    candidates.levels_here.cache_clear()
    monkeypatch.setattr(candidates, "levels_here", lambda ranks: "")
    on_one_level = candidates.algorithms_for(8, "allreduce")
    assert {"doubling", "halving", "tiled:cyclic", "ring"} <= set(on_one_level)
    assert "dissemination" not in on_one_level and "levels:binomial" not in on_one_level
    assert "dissemination" in candidates.algorithms_for(8, "barrier")
    halves = Machine.parse("numa:2 core:3")  # of four cores, nary:4 would be the same tree
    monkeypatch.setattr(candidates, "levels_here", lambda ranks: halves.place(ranks).levels())
    assert {"levels", "tiled:levels", "levels:push"} <= set(
        candidates.algorithms_for(6, "allreduce")
    )


FORMS = {
    "levels": ("bcast", lambda c: tp.algo.levels(c, form="binomial:push")),
    "levels of an allreduce": ("allreduce", lambda c: tp.algo.levels(c)),
    "tiled": ("allreduce", lambda c: (c.blocks(4), tp.algo.tiled(c, form="levels"))),
    "tiled reduce": ("reduce", lambda c: (c.blocks(8), tp.algo.tiled(c, form="cyclic"))),
    "doubling": ("allgather", lambda c: tp.algo.doubling(c)),
    "halving": ("reduce_scatter", lambda c: tp.algo.halving(c)),
    "bruck": ("alltoall", lambda c: tp.algo.bruck(c)),
    "ring": ("reduce_scatter", lambda c: tp.algo.ring(c)),
}


@pytest.mark.parametrize(("kind", "write"), FORMS.values(), ids=FORMS.keys())
def test_parts_of_the_plan_language(kind, write):
    @tp.collective(kind)
    def plan(c: tp.Context) -> None:
        write(c)

    core().check(plan.build(shape="numa:2 core:4", deal="block"))


HIERARCHIES = {
    "scan": lambda c: tp.algo.hierarchical(c, between="doubling", within="all_read_all"),
    "alltoall": lambda c: tp.algo.hierarchical(c),
    "allreduce": lambda c: (
        c.blocks(2),
        tp.algo.hierarchical(c, between="flat", within="levels:flat", leaders=2),
    ),
}


@pytest.mark.parametrize(("kind", "write"), HIERARCHIES.items(), ids=HIERARCHIES.keys())
@pytest.mark.parametrize("deal", ["block", "round_robin"])
def test_hierarchies_of_the_plan_language(kind, write, deal):
    @tp.collective(kind, commutative=deal != "block" and kind == "allreduce")
    def plan(c: tp.Context) -> None:
        write(c)

    built = plan.build(shape="node:3 numa:2 core:2", deal=deal)
    core().check(built)
    nodes = [rank % 3 if deal == "round_robin" else rank // 4 for rank in range(12)]
    crossing = [
        (source, target) for source, target, _ in built.edges if nodes[source] != nodes[target]
    ]
    assert (
        len(crossing) == {"scan": 3 if deal == "block" else 4, "alltoall": 6, "allreduce": 8}[kind]
    )


def test_a_hierarchy_with_within_needs_between():
    @tp.collective("bcast")
    def plan(c: tp.Context) -> None:
        tp.algo.hierarchical(c, within="flat")

    with pytest.raises(tp.PlanError, match="within='flat' without between; name both"):
        plan.build(shape="node:2 core:2")


def test_show_writes_a_hierarchy_for_nodes(tutti):
    shown = tutti(
        "plan",
        "show",
        "gather",
        "--algorithm",
        "hierarchical+flat+flat",
        "--ranks",
        "4",
        "--shape",
        "node:2 core:2",
    )
    assert shown.returncode == 0, shown.stderr
    assert "copy out[0].2+2 <- tmp[2].0+2" in shown.stdout  # the other node's parts in one copy


def test_levels_of_some_ranks():
    @tp.collective("bcast")
    def evens_first(c: tp.Context) -> None:
        evens, odds = list(c.ranks)[::2], list(c.ranks)[1::2]
        tp.algo.levels(c, evens)
        for rank, even in zip(odds, evens, strict=True):
            c.out[rank] = c.inp[even] if even == c.root else c.out[even]

    built = evens_first.build(shape="numa:2 core:4")
    core().check(built)
    assert sum(source // 4 != target // 4 for source, target, _ in built.edges) == 1
