"""The plan language for collectives with parts and for scans: buffers, random plans, and errors.

Errors name the user's line.
"""

import inspect
from pathlib import Path

import pytest
import tutti.plan as tp
from hypothesis import given, settings
from hypothesis import strategies as st
from tutti.places import core

pytestmark = pytest.mark.timeout(240)
HERE = Path(__file__).name
PARTED = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
ALL = tuple(core().collectives())


def line_of(function, text):
    lines, first = inspect.getsourcelines(function.function)
    return first + next(at for at, line in enumerate(lines) if text in line)


def written(kind, statement, ranks=3, root=0, check=True):
    @tp.collective(kind)
    def plan(c):
        statement(c)

    return plan.build(ranks=ranks, root=root, check=check)


# --- Buffers.

# The numbers of blocks of in and out for 5 ranks, with vectors of 4 blocks.
BLOCKS = {
    "bcast": (4, 4),
    "reduce": (4, 4),
    "allreduce": (4, 4),
    "gather": (1, 5),
    "scatter": (5, 1),
    "allgather": (1, 5),
    "alltoall": (5, 5),
    "reduce_scatter": (5, 1),
    "scan": (4, 4),
    "exscan": (4, 4),
}


def test_there_are_eleven_collectives():
    assert set(ALL) == {"barrier", *BLOCKS}
    assert tuple(kind for kind in ALL if core().parted(kind)) == PARTED


@pytest.mark.parametrize("kind", BLOCKS)
def test_buffers_have_their_blocks(kind):
    seen = []

    @tp.collective(kind)
    def looks(c):
        if not core().parted(kind):
            c.blocks(4)
        seen.append(
            (
                len(c.inp[c.root]),
                len(c.out[c.root or 1 if kind == "exscan" else c.root]),
                len(c.tmp[1]),
                c.block_count,
            )
        )

    with pytest.raises(tp.WrongPlan, match="needs"):
        looks.build(ranks=5, root=2 if core().rooted(kind) else 0)
    vector = 5 if kind in PARTED else 4
    assert seen == [(*BLOCKS[kind], vector, vector)]


@pytest.mark.parametrize("kind", PARTED)
def test_the_number_of_blocks_is_fixed(kind):
    with pytest.raises(tp.PlanError) as caught:
        written(kind, lambda c: c.blocks(8))
    article = "an" if kind.startswith("a") else "a"
    assert str(caught.value).endswith(
        f"blocks(8): {article} {kind} has a block for each rank, here 3; leave the call out"
    )
    assert HERE in str(caught.value)
    with pytest.raises(tp.WrongPlan):
        written(kind, lambda c: c.blocks(c.size))


@tp.collective("alltoall")
def wrong_alltoall(c, what):
    if what == "block":
        c.out[1][3] = c.inp[0][1]
    if what == "source block":
        c.tmp[0][0] = c.inp[0][7]
    if what == "counts":
        c.out[1] = c.inp[0][1]


@tp.collective("allgather")
def wrong_allgather(c, what):
    if what == "part":
        c.tmp[0][0] = c.inp[1][2]
    if what == "counts of parts":
        c.tmp[0] = c.inp[0]
    if what == "list":
        tp.algo.ring(c, [0, 1], into={r: [c.out[r][0]] for r in (0, 1)})
    if what == "multiple":
        tp.algo.ring(c, [0, 1], into={r: c.out[r][:3] for r in (0, 1)})


@tp.collective("scatter")
def wrong_scatter(c, what):
    if what == "part of out":
        c.out[1][1] = c.inp[0][1]
    if what == "scratch":
        tp.algo.direct(c, scratch={0: c.tmp[0][0:1].block(0)})
    if what == "argument":
        tp.algo.direct(c, source=c.inp)


@tp.collective("scan")
def wrong_scan(c, what):
    if what == "vector":
        c.out[1][1] = c.inp[0]


REFUSED = {
    "argument": (
        wrong_scatter,
        "source=c.inp",
        "direct: there is no 'source'; give some of collective, values, into, scratch",
    ),
    "block": (wrong_alltoall, "c.out[1][3]", "out[1].0+3 has no block 3; its blocks are 0..2"),
    "source block": (wrong_alltoall, "[7]", "in[0].0+3 has no block 7"),
    "counts": (
        wrong_alltoall,
        "c.out[1] = ",
        "but in[0].1 has 1; use equal numbers, such as out[1].0+3's block j by [j]",
    ),
    "part": (
        wrong_allgather,
        "c.inp[1][2]",
        "in[1] has no block 2; its blocks are only 0; in of an allgather is one part, out has",
    ),
    "counts of parts": (
        wrong_allgather,
        "c.tmp[0] = ",
        "tmp[0].0+3 has 3 blocks, but in[0] has 1; use equal numbers",
    ),
    "list": (wrong_allgather, "[c.out[r][0]]", "has a block 1, but 1 regions are listed"),
    "multiple": (
        wrong_allgather,
        "[:3]",
        "the included plan has 2 blocks, but out[0].0+3 has 3; make that a multiple",
    ),
    "part of out": (
        wrong_scatter,
        "c.out[1][1]",
        "its blocks are only 0; out of a scatter is one part, in has one for each rank",
    ),
    "scratch": (wrong_scatter, "scratch=", "needs 2 blocks of scratch, but tmp[0] has 1"),
    "vector": (wrong_scan, "c.out[1][1]", "only 0; c.blocks(n) cuts every vector into n"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_block_that_does_not_exist_names_the_users_line(what):
    function, culprit, message = REFUSED[what]
    with pytest.raises(tp.PlanError) as caught:
        function.build(ranks=3, what=what)
    said = str(caught.value)
    assert f"{HERE}:{line_of(function, culprit)}: " in said
    assert message in said
    assert "\n" not in said


# --- Random plans.


@st.composite
def routes(draw):
    """Draws ranks and, for each part, the ranks on its way, none of them twice."""
    ranks = draw(st.integers(1, 6))
    ways = {}
    for source in range(ranks):
        for target in range(ranks):
            between = [rank for rank in range(ranks) if rank not in (source, target)]
            ways[source, target] = (
                draw(st.lists(st.sampled_from(between), unique=True, max_size=3)) if between else []
            )
    return ranks, ways


def handed(c, source, way, slot):
    """Copies a part along its way and returns its last region; each part has its own slot."""
    for rank in way:
        c.tmp[rank][slot] = source
        source = c.tmp[rank][slot]
    return source


def send_all(c, ways, swapped=None):
    """Copies all parts along their ways, in the order of `ways`; two parts may be swapped at the
    end.
    """
    ends = {}
    for (source, target), way in ways.items():
        if (
            source != c.root
            and c.collective == "scatter"
            or target != c.root
            and c.collective == "gather"
        ):
            continue
        part = c.inp[source][target] if len(c.inp[source]) > 1 else c.inp[source]
        ends[source, target] = handed(c, part, way, source * c.size + target)
    for source, target in ends:
        place = c.out[target][source] if len(c.out[target]) > 1 else c.out[target]
        if (source, target) == swapped:
            other = ((source + 1) % c.size, target)
            if c.collective == "scatter":
                other = (source, (target + 1) % c.size)
            c.copy(place, ends[other])
        else:
            c.copy(place, ends[source, target])


@pytest.mark.parametrize("kind", ["gather", "scatter", "allgather", "alltoall"])
@settings(max_examples=40, deadline=None)
@given(routes(), st.data())
def test_parts_on_any_way_are_right_and_a_swapped_one_names_its_line(kind, route, data):
    ranks, ways = route
    root = data.draw(st.integers(0, ranks - 1)) if core().rooted(kind) else 0
    order = data.draw(st.permutations(sorted(ways)))

    @tp.collective(kind)
    def sent(c, swapped=None):
        send_all(c, {pair: ways[pair] for pair in order}, swapped)

    plan = sent.build(ranks=ranks, root=root)
    assert core().check(plan).rank_order and not plan.commutative
    assert core().read_plan(plan.text).text == plan.text
    if ranks == 1:
        return
    source = root if kind == "scatter" else data.draw(st.integers(0, ranks - 1))
    target = root if kind == "gather" else data.draw(st.integers(0, ranks - 1))
    with pytest.raises(tp.WrongPlan) as caught:
        sent.build(ranks=ranks, root=root, swapped=(source, target))
    lines, first = inspect.getsourcelines(send_all)
    culprit = first + next(at for at, line in enumerate(lines) if "ends[other]" in line)
    assert str(caught.value).startswith(f"{HERE}:{culprit}: ") or f"/{HERE}:{culprit}: " in str(
        caught.value
    )
    assert " where the part of rank " in str(caught.value) or " where the part for rank " in str(
        caught.value
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.randoms(use_true_random=False))
def test_random_trees_of_parts_are_right(ranks, chance):
    shuffled = list(range(ranks))
    chance.shuffle(shuffled)
    tree = tp.Tree(
        shuffled[0],
        [(chance.choice(shuffled[:at]), rank) for at, rank in enumerate(shuffled) if at > 0],
    )

    @tp.collective("gather")
    def gather(c):
        tp.algo.tree_gather(c, tree)

    @tp.collective("scatter")
    def scatter(c):
        tp.algo.tree_scatter(c, tree)

    @tp.collective("allgather")
    def allgather(c):
        tp.algo.tree_gather(c, tree, into=c.out[tree.root])
        tp.algo.tree_bcast(c, tree)

    @tp.collective("reduce_scatter")
    def reduce_scatter(c):
        c.reduce(c.tmp[tree.root, 1], [c.inp[rank] for rank in c.ranks])
        tp.algo.tree_scatter(c, tree, c.tmp[tree.root, 1])

    for function in (gather, scatter, allgather, reduce_scatter):
        root = tree.root if core().rooted(function.collective) else 0
        found = core().check(function.build(ranks=ranks, root=root))
        assert found.rank_order and found.uniform and found.in_place


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["scan", "exscan"]), st.integers(1, 10), st.integers(1, 10), st.integers(1, 3)
)
def test_scans_by_groups_are_right(kind, ranks, length, blocks):
    """Each group scans; then its ranks combine the result of the last rank of the group before."""

    @tp.collective(kind)
    def by_groups(c):
        c.blocks(blocks)
        groups = c.ranks.runs(length)
        before = None
        for group in groups:
            tp.algo.chain(
                c,
                group,
                collective="scan",
                into={r: c.tmp[r, 3] for r in group},
                scratch={r: c.tmp[r, 2] for r in group},
            )
            own = {r: (c.inp[r] if r == group[0] else c.tmp[r, 3]) for r in group}
            for at, r in enumerate(group):
                if kind == "scan":
                    c.reduce(c.out[r], ([before] if before else []) + [own[r]])
                elif r > 0:
                    c.reduce(
                        c.out[r],
                        ([before] if before else []) + ([own[group[at - 1]]] if at > 0 else []),
                    )
            last = group[-1]
            c.reduce(c.tmp[last, 4], ([before] if before else []) + [own[last]])
            before = c.tmp[last, 4]

    assert core().check(by_groups.build(ranks=ranks)).rank_order


def test_a_scan_out_of_order_relies_on_commuting():
    def backwards(c):
        for r in c.ranks:
            c.reduce(c.out[r], [c.inp[other] for other in reversed(c.ranks[: r + 1])])

    assert written("scan", backwards).commutative

    def forwards(c):
        for r in c.ranks:
            c.reduce(c.out[r], [c.inp[other] for other in c.ranks[: r + 1]])

    assert not written("scan", forwards).commutative


# --- Built-in algorithms as parts.

PART_OF = [(entry["name"], kind) for entry in core().algorithms() for kind in entry["collectives"]]
PARTS = {
    "direct": tp.algo.direct,
    "ring": tp.algo.ring,
    "chain": tp.algo.chain,
    "all_read_all": tp.algo.all_read_all,
}


@pytest.mark.parametrize(("algorithm", "kind"), [pair for pair in PART_OF if pair[0] in PARTS])
@pytest.mark.parametrize("ranks", [1, 2, 5, 20])
def test_parts_are_the_built_in_plans(algorithm, kind, ranks):
    for root in {0, ranks - 1} if core().rooted(kind) else {0}:
        # In a ring's allreduce and bcast the tiles are the vector's blocks.
        in_tiles = algorithm == "ring" and kind in ("allreduce", "bcast")
        tiles = ranks if in_tiles else None
        plan = written(
            kind,
            lambda c, tiles=tiles: (tiles and c.blocks(tiles), PARTS[algorithm](c)),
            ranks,
            root,
        )
        assert plan.transfer_texts == tp.builtin(algorithm, kind, ranks, root).transfer_texts


def test_a_window_is_the_degree_of_direct():
    plan = written("alltoall", lambda c: tp.algo.direct(c, window=2), ranks=7)
    assert plan.transfer_texts == tp.builtin("direct:2", "alltoall", 7).transfer_texts


def test_stages_of_an_included_plan_are_kept_only_if_all_transfers_have_stages():
    staged = tp.builtin("direct:2", "alltoall", 4)
    assert all(transfer["stage"] == 0 for transfer in staged.transfers)

    def alone(c):
        c.include(staged)

    def among_others(c):
        c.tmp[0, 5] = c.inp[0]
        c.include(staged)

    assert all(transfer["stage"] == 0 for transfer in written("alltoall", alone, 4).transfers)
    assert all(
        transfer["stage"] is None for transfer in written("alltoall", among_others, 4).transfers
    )


@pytest.mark.parametrize("deal", ["block", "round_robin"])
@pytest.mark.parametrize(
    "shape", ["core:1", "numa:2 core:3", "node:2 numa:2 core:2", "node:2 core:4", "node:3 core:1"]
)
def test_an_allgather_within_groups_and_between_them(shape, deal):
    @tp.collective("allgather")
    def two_levels(c):
        groups = c.tree.numa
        leads = [group.lead for group in groups]
        for group in groups:
            into = {r: [c.out[r][other] for other in group.ranks] for r in group.ranks}
            tp.algo.direct(c, group.ranks, into=into)
        for group in groups:
            for lead in leads:
                for run in group.ranks.slices():
                    if lead != group.lead:
                        c.out[lead][run] = c.out[group.lead][run]
        for group in groups:
            for r in group.ranks[1:]:
                c.out[r] = c.out[group.lead]

    found = core().check(two_levels.build(shape=shape, deal=deal))
    assert found.rank_order


@pytest.mark.parametrize("deal", ["block", "round_robin"])
@pytest.mark.parametrize("across", ["direct", "all_read_all"])
def test_an_alltoall_of_leaders_moves_many_parts_as_one(across, deal):
    """A part of the leaders' plan has several blocks: the parts of all pairs of two groups."""

    @tp.collective("alltoall")
    def by_leaders(c):
        groups = c.tree.nodes
        leads, each = [group.lead for group in groups], len(groups[0].ranks)
        square = each * each
        room = len(groups) * square
        values, into, scratch = (
            {lead: c.tmp[lead][at * room : (at + 1) * room] for lead in leads} for at in range(3)
        )
        for lead, group in zip(leads, groups, strict=True):
            for to, other in enumerate(groups):
                for i, r in enumerate(group.ranks):
                    for j, s in enumerate(other.ranks):
                        values[lead][to * square + i * each + j] = c.inp[r][s]
        getattr(tp.algo, across)(c, leads, values=values, into=into, scratch=scratch)
        for lead, group in zip(leads, groups, strict=True):
            for at, other in enumerate(groups):
                for i, r in enumerate(other.ranks):
                    for j, s in enumerate(group.ranks):
                        c.out[s][r] = into[lead][at * square + i * each + j]

    plan = by_leaders.build(shape="node:3 core:2", deal=deal)
    assert core().check(plan).rank_order
    assert any(transfer["dst"]["count"] == 4 for transfer in plan.transfers)


def test_ranks_as_slices():
    for ranks in (
        [],
        [3],
        [0, 1, 2, 3],
        [1, 5, 9],
        [0, 1, 4, 5],
        [7, 2, 4, 3],
        [0, 2, 3, 9, 15, 16],
    ):
        run = tp.Ranks(ranks)
        covered = [
            rank for part in run.slices() for rank in range(part.start, part.stop, part.step)
        ]
        assert sorted(covered) == sorted(ranks)
    assert tp.Ranks([8, 0, 4]).slices() == [slice(0, 9, 4)]


def test_a_definition_gives_the_contents_of_blocks():
    definition = core().Definition("alltoall", 4)
    assert (definition.in_blocks, definition.out_blocks) == (4, 4)
    assert definition.item_in(1, 3) == definition.item_out(3, 1)
    assert definition.sources(3, 1) == (1, 2)
    scan = core().Definition("exscan", 4, 0, 2)
    assert [scan.has_out(rank) for rank in range(4)] == [False, True, True, True]
    assert (scan.out_blocks, scan.sources(3, 1)) == (2, (0, 3))
    for wrong in (
        ("alltoall", 0),
        ("alltoall", 4, 1),
        ("gather", 4, 4),
        ("round", 4),
        ("bcast", 4, 0, 0),
    ):
        with pytest.raises(core().Error):
            core().Definition(*wrong)
    for ask in (lambda: scan.has_in(4), lambda: scan.item_out(0, 2), lambda: scan.sources(-1, 0)):
        with pytest.raises(core().Error, match="there is no"):
            ask()
