"""Trees and algorithms as parts of plans have the transfers of the built-in algorithms, for any
ranks.
"""

import random

import pytest
import tutti.plan as tp
from tutti.errors import UserError
from tutti.places import core

TREES = ["binomial", "nary:3", "nary:4", "flat"]


@tp.collective("allreduce")
def scripted(c, kind):
    tree = tp.Tree.builtin(kind, c.ranks)
    tp.algo.tree_reduce(c, tree, into=c.out[0])
    tp.algo.tree_bcast(c, tree)


@tp.collective("reduce")
def scripted_reduce(c, kind):
    tp.algo.tree_reduce(c, tp.Tree.builtin(kind, c.ranks, c.root), into=c.out[c.root])


@tp.collective("bcast")
def scripted_bcast(c, kind):
    tp.algo.tree_bcast(c, tp.Tree.builtin(kind, c.ranks, c.root), c.inp[c.root])


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 5, 8, 13, 16, 33])
def test_scripted_trees_are_the_built_in_ones(kind, ranks):
    assert (
        scripted.build(ranks=ranks, kind=kind).transfer_texts
        == tp.builtin(kind, "allreduce", ranks).transfer_texts
    )
    for root in {0, 1 % ranks, ranks // 2, ranks - 1}:
        for function in (scripted_reduce, scripted_bcast):
            plan = function.build(ranks=ranks, root=root, kind=kind)
            same = tp.builtin(kind, function.collective, ranks, root)
            assert plan.transfer_texts == same.transfer_texts
            # Programs are cached by the plan's contents, so only the label may differ.
            assert plan.text.replace(plan.algorithm, kind, 1) == same.text


def test_a_tree_from_parents_is_the_built_in_one():
    @tp.collective("reduce")
    def from_parents(c):
        tree = tp.Tree.from_parents({rank: rank & (rank - 1) for rank in c.ranks[1:]}, 0)
        tp.algo.tree_reduce(c, tree, into=c.out[0])

    for ranks in (1, 2, 5, 8, 31, 64):
        plan = from_parents.build(ranks=ranks)
        assert plan.transfer_texts == tp.builtin("binomial", "reduce", ranks).transfer_texts


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("algorithm", ["all_read_all", "tiled"])
def test_included_plans_are_the_built_in_ones(algorithm, ranks):
    @tp.collective("allreduce")
    def included(c):
        c.blocks(c.size if algorithm == "tiled" else 1)
        getattr(tp.algo, algorithm)(c)

    assert (
        included.build(ranks=ranks).transfer_texts
        == tp.builtin(algorithm, "allreduce", ranks).transfer_texts
    )


@pytest.mark.parametrize("across", ["all_read_all", "tiled", "tree"])
def test_parts_over_sub_lists_compose(across):
    @tp.collective("allreduce")
    def levels(c):
        leads = [node.lead for node in c.tree.nodes]
        c.blocks(2 * len(leads))
        value = {}
        for node in c.tree.nodes:
            value[node.lead] = tp.algo.tree_reduce(c, tp.Tree.nary(node.ranks, 3))
        scratch = {rank: c.tmp[rank, 1] for rank in leads}
        if across == "tree":
            tree = tp.Tree.chain(leads)
            tp.algo.tree_reduce(c, tree, values=value, into=c.out[leads[0]], scratch=scratch)
            tp.algo.tree_bcast(c, tree)
        else:
            getattr(tp.algo, across)(c, leads, values=value, scratch=scratch)
        for node in c.tree.nodes:
            tp.algo.tree_bcast(c, tp.Tree.flat(node.ranks))

    for shape in ("core:1", "node:1 core:5", "node:2 core:4", "node:4 core:3", "node:3 core:1"):
        for deal in ("block", "round_robin"):
            plan = levels.build(shape=shape, deal=deal)
            assert core().check(plan).uniform


@pytest.mark.parametrize("push", [False, True])
@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("order", ["rank", "tree"])
def test_random_trees_compute_their_collective(push, any_order, order):
    chance = random.Random(7)

    @tp.collective("allreduce")
    def grown(c):
        ranks = list(c.ranks)
        chance.shuffle(ranks)
        tree = tp.Tree(
            ranks[0], [(chance.choice(ranks[:at]), rank) for at, rank in enumerate(ranks) if at > 0]
        )
        tp.algo.tree_reduce(
            c, tree, into=c.out[tree.root], order=order, any_order=any_order, push=push
        )
        tp.algo.tree_bcast(c, tree, push=push)

    for ranks in (1, 2, 3, 6, 17, 40):
        plan = grown.build(ranks=ranks)
        found = core().check(plan)
        assert found.uniform
        assert found.arrival == ("reduce any" in plan.text)
        assert ("push" in plan.text) == (push and ranks > 1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7, 8, 9, 31, 32])
def test_dissemination_is_a_barrier(ranks):
    @tp.collective("barrier")
    def barrier(c):
        tp.algo.dissemination(c)

    plan = barrier.build(ranks=ranks)
    assert len(plan.transfer_texts) == max(1, (ranks - 1).bit_length() * ranks)


def test_trees_as_data():
    tree = tp.Tree.from_children(0, {0: [4, 2, 1], 2: [3], 4: [6, 5], 6: [7]})
    assert (tree.root, len(tree), tree.depth, tree.most_children) == (0, 8, 3, 3)
    assert tree.parents == {4: 0, 2: 0, 1: 0, 6: 4, 5: 4, 7: 6, 3: 2}
    assert tree.children[4] == [6, 5]
    assert tree.lowest[4] == 4 and tree.lowest[0] == 0
    assert tp.Tree.chain([3, 1, 2]).edges == ((3, 1), (1, 2))
    assert tp.Tree.flat([5]).edges == ()
    assert tp.Tree.joined([tp.Tree.flat([0, 4]), tp.Tree.flat([4, 5, 6])]).children == {
        0: [4],
        4: [5, 6],
    }


@pytest.mark.parametrize(
    "make",
    [
        lambda: tp.Tree(0, [(1, 2)]),
        lambda: tp.Tree(0, [(0, 1), (0, 1)]),
        lambda: tp.Tree.from_parents({1: 2, 2: 1}),
        lambda: tp.Tree.from_parents({1: 0, 3: 2}),
        lambda: tp.Tree.from_parents({1: 0}, root=1),
        lambda: tp.Tree.from_children(0, {0: [1], 2: [3]}),
        lambda: tp.Tree.flat([]),
        lambda: tp.Tree.binomial([1, 2], root=3),
        lambda: tp.Tree.nary([1, 2], 1),
        lambda: tp.Tree.builtin("oak", [0]),
        lambda: tp.Tree.joined([]),
    ],
)
def test_wrong_trees_are_refused(make):
    with pytest.raises(UserError):
        make()


def test_a_chain_of_thousands_needs_no_recursion():
    @tp.collective("reduce")
    def chain(c):
        tp.algo.tree_reduce(c, tp.Tree.chain(c.ranks), into=c.out[0])

    assert chain.build(ranks=3000).transfer_count == 2999


def test_trees_of_4096_ranks_are_written_and_checked():
    """A step that looks at all ranks for each rank would take minutes, and meet the limit of a test."""
    built_in = tp.builtin("binomial", "allreduce", 4096)
    assert scripted.build(ranks=4096, kind="binomial").transfer_count == built_in.transfer_count
    core().check(tp.builtin("nary:8", "allreduce", 4096))
