"""The plan language: the plans that functions write; errors name the user's line."""

import inspect
from pathlib import Path

import pytest
import tutti.plan as tp
from tutti.errors import UserError
from tutti.places import core

HERE = Path(__file__).name


def transfers(plan):
    return plan.transfer_texts


@tp.collective("allreduce")
def star(c: tp.Context) -> None:
    c.out[0] = sum(c.inp[r] for r in c.ranks)
    for r in c.ranks[1:]:
        c.out[r] = c.out[0]


def test_a_function_writes_a_plan():
    plan = star.build(ranks=3)
    assert (plan.collective, plan.ranks, plan.blocks, plan.commutative, plan.shape) == (
        "allreduce",
        3,
        1,
        False,
        "",
    )
    assert plan.text == (
        "tutti-plan 1\ncollective allreduce\nalgorithm star\nranks 3\nblocks 1\n"
        "reduce out[0] <- in[0], in[1], in[2]\ncopy out[1] <- out[0]\ncopy out[2] <- out[0]\n"
    )
    assert core().read_plan(plan.text).text == plan.text
    assert core().check(plan).rank_order


def test_the_example_of_the_plan_language():
    @tp.collective("allreduce")
    def two_groups_per_node(c):
        results = []
        for node in c.tree.nodes:
            for group in node.ranks.split(2):
                lead, *rest = group
                c.reduce(c.tmp[lead], [c.inp[lead], *(c.inp[r] for r in rest)])
                results.append(c.tmp[lead])
        c.reduce(c.out[0], results)
        for r in c.ranks[1:]:
            c.copy(c.out[r], c.out[0])

    plan = two_groups_per_node.build(shape="node:2 core:4")
    assert transfers(plan)[:5] == [
        "reduce tmp[0] <- in[0], in[1]",
        "reduce tmp[2] <- in[2], in[3]",
        "reduce tmp[4] <- in[4], in[5]",
        "reduce tmp[6] <- in[6], in[7]",
        "reduce out[0] <- tmp[0], tmp[2], tmp[4], tmp[6]",
    ]
    assert plan.shape == "node:2 core:4"
    assert not plan.commutative
    assert two_groups_per_node.build(shape="node:2 core:4", deal="round_robin").commutative


def test_regions():
    said = []

    @tp.collective("allreduce")
    def regions(c):
        c.blocks(6)
        said.extend(
            [
                c.inp[1],
                c.inp[1].block(2),
                c.inp[1][2:5],
                c.inp[1][::2],
                c.inp[1][1::3][1],
                c.inp[1][-1],
                c.tmp[0][8:10],
            ]
        )
        said.extend([c.tmp[0, 1], c.tmp[0].block(7), c.inp[0][:], c.out[1][1::2][::2]])
        assert len(c.inp[0]) == 6 and [len(block) for block in c.inp[0]] == [1] * 6
        assert (
            c.inp[0] == c.inp[0][:] and c.inp[0] != c.inp[1] and len({c.inp[0], c.inp[0][:]}) == 1
        )
        c.tmp[0][6:12] = c.inp[1]
        c.tmp[0] = c.inp[0] + c.tmp[0, 1]
        c.out[0][::2] = c.tmp[0][::2]
        c.out[0][1::2] = c.tmp[0][1::2]
        c.copy(c.out[1], c.out[0], push=True)

    plan = regions.build(ranks=2)
    assert list(map(repr, said)) == [
        "in[1].0+6", "in[1].2", "in[1].2+3", "in[1].0+3/2", "in[1].4", "in[1].5", "tmp[0].8+2",
        "tmp[0].6+6", "tmp[0].7", "in[0].0+6", "out[1].1+2/4",
    ]  # fmt: skip
    assert transfers(plan) == [
        "copy tmp[0].6+6 <- in[1].0+6",
        "reduce tmp[0].0+6 <- in[0].0+6, tmp[0].6+6",
        "copy out[0].0+3/2 <- tmp[0].0+3/2",
        "copy out[0].1+3/2 <- tmp[0].1+3/2",
        "push out[1].0+6 <- out[0].0+6",
    ]


def test_options_of_transfers():
    @tp.collective("allreduce")
    def options(c):
        c.reduce(c.tmp[0], [c.inp[r] for r in c.ranks], any_order=True, stage=0)
        c.reduce(c.tmp[0, 1], [c.tmp[0], c.tmp[0]][:1], stage=1)
        for r in c.ranks:
            c.copy(c.out[r], c.tmp[0, 1], push=True, stage=2)

    plan = options.build(ranks=2)
    assert plan.commutative
    assert transfers(plan) == [
        "reduce any @0 tmp[0] <- in[0], in[1]",
        "copy @1 tmp[0].1 <- tmp[0]",
        "push @2 out[0] <- tmp[0].1",
        "push @2 out[1] <- tmp[0].1",
    ]
    assert core().check(plan).arrival


def test_tokens():
    @tp.collective("scatter")
    def one_at_a_time(c):
        others = c.ranks.without(c.root)
        for before, rank in zip([others[-1], *others], others, strict=False):
            c.token(rank, before, stage=0)
            c.copy(c.out[rank], c.inp[c.root][rank], stage=0)
        c.copy(c.out[c.root], c.inp[c.root][c.root], stage=0)

    plan = one_at_a_time.build(ranks=4, root=1)
    assert transfers(plan)[:4] == [
        "token @0 0 <- 3",
        "copy @0 out[0] <- in[1]",
        "token @0 2 <- 0",
        "copy @0 out[2] <- in[1].2",
    ]
    assert [source for source, _, _ in plan.edges] == [1, 1, 1]
    kinds = [step["kind"] for step in core().lower(plan, "slot", [0])[0].steps]
    assert kinds == ["wait_before", "wait_word", "copy", "publish"]

    @tp.collective("scatter")
    def inside(c):
        c.include(plan)

    assert transfers(inside.build(ranks=4, root=1)) == transfers(plan)
    for rank, after, message in (
        (0, 0, "its own transfers"),
        (0, [], "waits for no rank"),
        (0, 7, "no rank 7"),
    ):

        @tp.collective("bcast")
        def wrong(c, rank=rank, after=after):
            c.token(rank, after)

        with pytest.raises(tp.PlanError, match=message):
            wrong.build(ranks=2)


def test_a_rank_can_reduce_into_one_of_its_sources():
    @tp.collective("reduce")
    def ring(c):
        c.tmp[0] = c.inp[0]
        for r in c.ranks[1:]:
            c.tmp[0] += c.inp[r]
        c.out[0] = c.tmp[0]

    assert transfers(ring.build(ranks=3))[1:3] == [
        "reduce tmp[0] <- tmp[0], in[1]",
        "reduce tmp[0] <- tmp[0], in[2]",
    ]


def test_plans_are_commutative_only_if_their_order_requires_it():
    @tp.collective("reduce")
    def own_first(c):
        c.reduce(c.out[c.root], [c.inp[c.root], *(c.inp[r] for r in c.ranks.without(c.root))])

    @tp.collective("reduce", commutative=False)
    def strict(c):
        own_first(c)

    assert not own_first.build(ranks=4, root=0).commutative
    assert own_first.build(ranks=4, root=2).commutative
    assert not own_first.build(ranks=4, root=0, check=False).commutative
    assert not strict.build(ranks=4).commutative
    with pytest.raises(tp.WrongPlan, match="rank order"):
        strict.build(ranks=4, root=2)
    with pytest.raises(tp.PlanError, match="any_order"):

        @tp.collective("reduce", commutative=False)
        def arrival(c):
            c.reduce(c.out[0], [c.inp[r] for r in c.ranks], any_order=True)

        arrival.build(ranks=2)


def test_parameters_and_labels():
    @tp.collective("bcast", label="fan")
    def fan(c, width=2, name="x"):
        """Two at a time."""
        assert (width, name) == (3, "# é")
        for r in c.ranks.without(c.root):
            c.out[r] = c.inp[c.root]

    assert fan.build(ranks=3, root=1, width=3, name="# é").algorithm == "fan width=3 name=? ?"
    assert (fan.name, fan.collective, fan.parameters, fan.__doc__) == (
        "fan",
        "bcast",
        {"width": 2, "name": "x"},
        "Two at a time.",
    )
    with pytest.raises(tp.PlanError, match="its parameters are: width, name"):
        fan.build(ranks=3, height=3)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function.function)
    return first + next(at for at, line in enumerate(lines) if text in line)


@tp.collective("allreduce")
def wrong(c, what):
    c.blocks(2)
    if what == "rank":
        c.out[0] = c.inp[9]
    if what == "negative":
        c.out[0] = c.inp[-1]
    if what == "block":
        c.out[0][5] = c.inp[0][0]
    if what == "slice":
        c.out[0] = c.inp[0][1:1]
    if what == "counts":
        c.out[0] = c.inp[0][1]
    if what == "nothing":
        c.reduce(c.out[0], [])
    if what == "empty sum":
        c.out[0] = sum(c.inp[r] for r in [])
    if what == "type":
        c.out[0] = 3.5
    if what == "rank type":
        c.out["zero"] = c.inp[0]
    if what == "sources":
        c.reduce(c.out[0], [c.inp[0], 7])
    if what == "copy many":
        c.copy(c.out[0], [c.inp[0]])
    if what == "in":
        c.inp[0] = c.inp[1]
    if what == "late blocks":
        c.blocks(3 if c.inp[0] else 4)
    if what == "no blocks":
        c.blocks(0)
    if what == "push":
        c.reduce(c.out[0], [c.inp[0], c.inp[1]], push=True)
    if what == "stage":
        c.copy(c.out[0], c.inp[0], stage=-1)
    if what == "vector of in":
        c.out[0] = c.inp[0, 1]
    if what == "split":
        c.ranks.split(0)
    if what == "tree":
        tp.Tree.flat(c.ranks, 77)
    if what == "children":
        tp.Tree.from_children(0, {0: [1], 1: [0]})
    if what == "order":
        tp.algo.tree_reduce(c, tp.Tree.flat(c.ranks), order="upwards")
    if what == "tiles":
        tp.algo.tiled(c)
    if what == "builtin":
        tp.builtin("round", "bcast", 3)
    if what == "include":
        c.include(tp.builtin("flat", "allreduce", 2))


REFUSED = {
    "rank": ("c.inp[9]", "in[9]: there is no rank 9; ranks are 0..2"),
    "negative": ("c.inp[-1]", "there is no rank -1"),
    "block": ("c.out[0][5]", "has no block 5; its blocks are 0..1"),
    "slice": ("[1:1]", "selects no blocks"),
    "counts": ("c.inp[0][1]", "out[0].0+2 has 2 blocks, but in[0].1 has 1"),
    "nothing": ("c.out[0], []", "a reduce without sources"),
    "empty sum": ("in []", "a sum without regions"),
    "type": ("3.5", "3.5 is not a region"),
    "rank type": ("zero", "'zero' is not a rank"),
    "sources": ("7]", "the source 7 is not a region"),
    "copy many": ("[c.inp[0]])", "is not a region; give one such as c.inp[0], or call reduce"),
    "in": ("c.inp[0] = c.inp[1]", "in is read-only"),
    "late blocks": ("c.blocks(3", "buffers were named before"),
    "no blocks": ("c.blocks(0)", "1 to"),
    "push": ("push=True", "a pushed reduce reads buffers of several ranks"),
    "stage": ("stage=-1", "stage -1"),
    "vector of in": ("c.inp[0, 1]", "only tmp has several vectors"),
    "split": ("split(0)", "the number of pieces must be at least 1"),
    "tree": ("77", "root 77 is not among the ranks"),
    "children": ("1: [0]", "rank 0 is in the tree twice"),
    "order": ("upwards", "order 'upwards' is unknown"),
    "tiles": ("tp.algo.tiled", "c.blocks(3)"),
    "builtin": ('"round"', "unknown algorithm 'round'"),
    "include": ("c.include", "the included plan has 2 ranks, but 3 are given"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_error_is_one_line_that_names_the_users_line(what):
    culprit, message = REFUSED[what]
    with pytest.raises(tp.PlanError) as caught:
        wrong.build(ranks=3, what=what)
    said = str(caught.value)
    assert f"{HERE}:{line_of(wrong, culprit)}: " in said
    assert message in said
    assert "\n" not in said


@tp.collective("allreduce")
def incomplete(c):
    c.blocks(4)
    c.out[0] = sum(c.inp[r] for r in c.ranks[:-1])  # the last rank is missing
    for r in c.ranks[1:]:
        c.out[r] = c.out[0]


@tp.collective("allreduce")
def unwritten(c):
    c.out[0] = c.inp[0] + c.tmp[1]  # c.tmp[1] was never written


@tp.collective("allreduce")
def shifted(c):
    c.blocks(4)
    c.tmp[0][1:4] = c.tmp[0][0:3]  # the two regions overlap


@pytest.mark.parametrize(
    ("function", "culprit", "error"),
    [
        (incomplete, "is missing", tp.WrongPlan),
        (unwritten, "never written", tp.WrongPlan),
        (shifted, "overlap", tp.PlanError),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_errors_of_the_check_name_the_users_line(function, culprit, error):
    with pytest.raises(error) as caught:
        function.build(ranks=3)
    assert f"{HERE}:{line_of(function, culprit)}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_buffers_that_a_collective_does_not_have_are_refused():
    def first(kind, statement):
        @tp.collective(kind)
        def plan(c):
            statement(c)

        with pytest.raises(tp.PlanError) as caught:
            plan.build(ranks=3, root=1 if core().rooted(kind) else 0)
        return str(caught.value)

    assert "only the root of a bcast, rank 1" in first("bcast", lambda c: c.inp[0])
    assert "only the root of a reduce, rank 1" in first("reduce", lambda c: c.out[0])
    assert "a barrier has 1 block" in first("barrier", lambda c: c.blocks(2))
    assert "only the root of a scatter, rank 1, has an in" in first("scatter", lambda c: c.inp[0])
    assert "only the root of a gather, rank 1, has a result" in first("gather", lambda c: c.out[2])
    assert "out[0]: rank 0 of an exscan has no ranks before it" in first(
        "exscan", lambda c: c.out[0]
    )


def test_wrong_builds_are_refused():
    for arguments in (
        {},
        {"ranks": 0},
        {"ranks": 4, "root": 1},
        {"ranks": "4"},
        {"shape": "core"},
        {"ranks": 2, "deal": "x"},
    ):
        with pytest.raises(UserError):
            star.build(**arguments)
    placed = tp.Machine.parse("core:4").place()
    with pytest.raises(tp.PlanError, match="give either placed, or ranks and shape"):
        star.build(placed, ranks=4)
    with pytest.raises(
        tp.PlanError,
        match="there is no collective 'alltoallv'; known are barrier, .*, alltoall, .*, exscan",
    ):
        tp.collective("alltoallv")
    with pytest.raises(tp.PlanError, match="no context"):
        tp.collective("bcast")(lambda: None)
    with pytest.raises(tp.PlanError, match="'root' is also one of build"):
        tp.collective("bcast")(lambda c, root: None)


def test_regions_of_another_plan_are_refused():
    kept = []

    @tp.collective("allreduce")
    def keeps(c):
        kept.append(c.inp[0])
        star(c)

    @tp.collective("allreduce")
    def mixes(c):
        c.out[0] = kept[0]

    keeps.build(ranks=2)
    with pytest.raises(tp.PlanError, match="belongs to another plan"):
        mixes.build(ranks=2)


def test_errors_name_lines_in_every_file(tmp_path):
    namespace = {}
    other = tmp_path / "other.py"
    other.write_text("def finish(c):\n    for r in c.ranks[1:]:\n        c.out[r] = c.out[0]\n")
    exec(compile(other.read_text(), str(other), "exec"), namespace)

    @tp.collective("allreduce")
    def two_files(c):
        c.out[0] = sum(c.inp[r] for r in c.ranks)
        namespace["finish"](c)

    plan = two_files.build(ranks=3)
    files, lines = zip(*plan.places, strict=True)
    assert files[0].endswith(HERE) and files[1] == files[2] == str(other)
    assert lines == (line_of(two_files, "sum("), 3, 3)
    assert len(plan.files) == 2


@pytest.mark.parametrize("rank", [1 << 30, -(1 << 30)])
def test_a_builder_takes_no_rank_that_regions_cannot_hold(rank):
    builder = core().PlanBuilder("allgather", 2, 0)
    with pytest.raises(core().Error, match=f"there is no rank {rank};"):
        builder.transfer((rank, 1, 0, 1, 1), [(0, 0, 0, 1, 1)], False, False, None, 0, 0)
    with pytest.raises(core().Error, match=f"there is no rank {rank};"):
        builder.token(0, [rank], None, 0, 0)
