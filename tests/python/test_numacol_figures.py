"""NUMACol's sentences about its figure 5, by predictions on the paper's machines."""

import pytest
from tutti.choose.candidates import Candidate
from tutti.choose.choice import Question, predicted
from tutti.plan.machine import Machine
from tutti.predict.machines import known_costs, known_files, read_model
from tutti.predict.prediction import Where, shared_levels

WHOLE = 1 << 26  # bytes of a segment
RING = "token_ring:1:threshold=8K"


def times_of(collective, name, ranks, size, algorithms):
    """Microseconds by algorithm."""
    model = read_model(known_files()[name])
    placed = Machine.parse(known_costs(name)["shape"]).place(ranks)
    nodes = [placed.group_of(rank, "node").index for rank in range(ranks)]
    levels = placed.levels()
    where = Where(ranks, shared_levels(levels), nodes, "mapped", 0, [])
    rivals = [Candidate(one, WHOLE) for one in algorithms]
    found, refused = predicted(model, Question(collective, size, 0, levels, where), rivals)
    assert not refused
    return {one.candidate.algorithm: one.microseconds for one in found}


@pytest.mark.parametrize(("name", "ranks", "most"), [("superdome", 128, 1.4), ("judge", 648, 1.01)])
@pytest.mark.parametrize("size", [16384, 65536])
def test_the_ring_scatters_nearly_as_fast_as_the_flat_tree(name, ranks, most, size):
    """About 30% below it on the Superdome, whose ranks all share a node; within 1% on JUDGE."""
    times = times_of("scatter", name, ranks, size, ("flat", RING, "binomial"))
    assert times[RING] <= most * times["flat"]
    if name == "superdome":
        assert times["binomial"] > 2 * times[RING]


def test_a_gather_by_the_ring_on_one_node_is_a_flat_tree_by_push():
    """Figure 6: the best gather pushes. `flat` does not: its root reads all parts."""
    all_at_once = "token_ring:128"
    times = times_of("gather", "superdome", 128, 65536, ("flat", RING, all_at_once))
    assert times[RING] == times[all_at_once] < times["flat"] / 1.5
