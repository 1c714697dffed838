"""The trees of LAM-MPI and the PATHS paper: shapes, inter-node messages, and the shipped files."""

import os
from functools import partial
from pathlib import Path

import pytest
import tutti.plan as tp
from tutti.places import core
from tutti.plan import lam

GOLDEN = Path(__file__).resolve().parents[2] / "examples" / "paths" / "plans"
DEALS = ("round_robin", "block")


def between(plan, placed):
    """The number of messages between nodes."""
    return sum(placed.level(source, target) == "cluster" for source, target, _ in plan.edges)


def hears_from(plan):
    """For each rank that combines data, itself and its children, in the order of combining."""
    order = {}
    for transfer in plan.transfers:
        if transfer["kind"] == "reduce":
            to, (first, further) = transfer["dst"], transfer["src"]
            assert first == to if to["rank"] in order else first["rank"] == to["rank"]
            order.setdefault(to["rank"], [to["rank"]]).append(further["rank"])
    return order


def test_rank_12_of_32_has_children_13_and_14_and_parent_8():
    plan = lam.logarithmic_reduce.build(ranks=32)
    heard = hears_from(plan)
    assert heard[12] == [12, 13, 14]
    assert [rank for rank, sources in heard.items() if 12 in sources and rank != 12] == [8]
    assert heard[0] == [0, 1, 2, 4, 8, 16]
    assert heard[16] == [16, 17, 18, 20, 24]


def test_a_ranks_parent_in_a_bcast_is_the_rank_without_its_highest_bit():
    plan = lam.logarithmic_bcast.build(ranks=32)
    parents = {target: source for source, target, _ in plan.edges}
    assert parents == {rank: rank - (1 << (rank.bit_length() - 1)) for rank in range(1, 32)}


def test_messages_between_nodes_of_figure_3():
    for deal, reduce_messages, bcast_messages in (("round_robin", 28, 7), ("block", 7, 28)):
        placed = tp.Machine.parse("node:8 core:4").place(32, deal)
        assert between(lam.logarithmic_reduce.build(placed), placed) == reduce_messages
        assert between(lam.logarithmic_bcast.build(placed), placed) == bcast_messages
        assert between(lam.logarithmic.build(placed), placed) == 35


@pytest.mark.parametrize("deal", DEALS)
def test_messages_between_nodes_of_the_mapped_schemes(deal):
    four_way = tp.Machine.parse("node:8 core:4").place(32, deal)
    eight_way = tp.Machine.parse("node:4 core:8").place(32, deal)
    assert between(lam.linear_reduce.build(four_way), four_way) == 28
    assert between(lam.hierarchical_reduce.build(four_way), four_way) == 7
    assert between(lam.hierarchical_bcast.build(four_way), four_way) == 7
    # The paper says "This doubled the communication over the network."
    assert between(lam.hierarchical_reduce.build(eight_way), eight_way) == 3
    assert between(lam.two_groups_reduce.build(eight_way), eight_way) == 6
    assert between(lam.three_layers_reduce.build(eight_way), eight_way) == 3


def test_children_and_depth_of_the_schemes_on_the_8_way_cluster():
    placed = tp.Machine.parse("node:4 core:8").place(32, "round_robin")

    def factors(shape):
        context = tp.Context("reduce", placed, 0)
        tree = shape(context)
        inner = [len(below) for rank, below in tree.children.items() if rank != tree.root]
        return tree.depth, max(inner, default=0)

    # The paper says "the local root process on each node would get 7 children". In a group of 4 a
    # leader has 3 children. Three layers are deeper by one.
    assert factors(lam.hierarchical_tree) == (2, 7)
    assert factors(lam.two_groups_tree) == (2, 3)
    assert factors(lam.three_layers_tree) == (3, 4)
    assert factors(lam.log_reduce_tree) == (5, 4)


def test_lam_is_linear_up_to_four_ranks():
    for ranks in range(1, 5):
        assert (
            lam.lam.build(ranks=ranks).transfer_texts
            == lam.linear.build(ranks=ranks).transfer_texts
        )
    for ranks in (5, 6, 32):
        assert (
            lam.lam.build(ranks=ranks).transfer_texts
            == lam.logarithmic.build(ranks=ranks).transfer_texts
        )
        assert (
            lam.lam.build(ranks=ranks).transfer_texts
            != lam.linear.build(ranks=ranks).transfer_texts
        )


def test_when_the_schemes_rely_on_commuting():
    round_robin = tp.Machine.parse("node:8 core:4").place(32, "round_robin")
    block = tp.Machine.parse("node:8 core:4").place(32)
    for scheme, (allreduce, reduce, bcast) in lam.SCHEMES.items():
        mapped = scheme in ("hierarchical", "two_groups", "three_layers")
        assert allreduce.build(round_robin).commutative == mapped
        assert not allreduce.build(block).commutative
        assert reduce.build(block, root=5).commutative
        assert not bcast.build(round_robin, root=5).commutative


@pytest.mark.parametrize("scheme", lam.SCHEMES)
def test_every_scheme_is_right_for_all_ranks_roots_and_deals(scheme):
    machine = tp.Machine.parse("cluster:2 node:3 core:4")
    for ranks in range(1, 33):
        for deal in DEALS:
            placed = machine.place(ranks, deal)
            allreduce, reduce, bcast = lam.SCHEMES[scheme]
            assert core().check(allreduce.build(placed)).uniform
            for root in {0, ranks // 3, ranks - 1}:
                for function in (reduce, bcast):
                    plan = function.build(placed, root=root)
                    # One message for each rank but the root, and a step of its receiver for each.
                    assert len(plan.transfers) == max(ranks - 1, function is reduce)
                    assert len(set(plan.edges)) == len(plan.edges) == ranks - 1


def shipped():
    """For each file in examples/paths/plans, the function and arguments that build its plan."""
    made = {"allreduce-linear-32.plan": partial(lam.linear.build, ranks=32)}
    for suffix, which in (("allreduce", 0), ("reduce", 1), ("bcast", 2)):
        for scheme, ranks in (("linear", 4), ("logarithmic", 32)):
            made[f"{suffix}-{scheme}-{ranks}.plan"] = partial(
                lam.SCHEMES[scheme][which].build, ranks=ranks
            )
    for scheme, shape in (
        ("hierarchical", "node:8 core:4"),
        ("two_groups", "node:4 core:8"),
        ("three_layers", "node:4 core:8"),
    ):
        for deal in DEALS:
            made[f"allreduce-{scheme}-32-{deal}.plan"] = partial(
                lam.SCHEMES[scheme][0].build, shape=shape, deal=deal
            )
    return made


# The parameters are names and not plans: if Hypothesis has run in the session, parameters outlive
# the bindings, which would then report leaked plans.
@pytest.mark.parametrize("file", shipped())
def test_shipped_plans_are_what_the_functions_write(file):
    plan = shipped()[file]()
    if "TEST_TUTTI_WRITE_GOLDEN" in os.environ:
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / file).write_bytes(plan.text.encode())
    assert (GOLDEN / file).read_bytes() == plan.text.encode(), (
        "set TEST_TUTTI_WRITE_GOLDEN=1 to write it again"
    )


def test_nothing_else_is_shipped_and_the_map_is_right():
    assert {file.name for file in GOLDEN.iterdir()} == {"map", *shipped()}
    rules = core().load_library(str(GOLDEN))
    assert {rule["target"] for rule in rules} <= {file.name for file in GOLDEN.iterdir()}
    assert len(rules) >= 6
