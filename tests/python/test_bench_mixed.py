"""`tutti bench mixed --cold`: the program, its order of calls, and the driver's results."""

from collections import Counter

import pytest
from test_bench_program import broken, broken_code, launch, refuse, run_program
from tutti.places import find_interposer, find_program

__all__ = ["broken"]  # a fixture
CONDITIONS = ("plain", "mixed", "cold", "mixed+cold")


def kind_of(cell: dict) -> tuple:
    return tuple(
        cell.get(name) for name in ("collective", "bytes", "element", "root", "communicator")
    )


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_kind_is_measured_under_every_condition(mpi, ranks, tmp_path):
    words = "--kinds programs --mixed --cold 64K --seed 5 --budget-ms 1"
    job = run_program(mpi, ranks, tmp_path, words)
    assert (job["seed"], job["cold_bytes"], job["verified"]) == (5, 65536, True)
    kinds = [kind_of(cell) for cell in job["cells"] if cell["condition"] == "plain"]
    assert len(kinds) == len(set(kinds)) == (18 if ranks > 1 else 16)
    for condition in CONDITIONS:
        assert [kind_of(cell) for cell in job["cells"] if cell["condition"] == condition] == kinds
    assert ("allreduce", 4, "uint32", None, "world") in kinds and (
        "allreduce",
        8,
        "double",
        None,
        "dup",
    ) in kinds
    assert {kind[3] for kind in kinds if kind[0] == "bcast"} == set(range(ranks))
    assert all(0 <= cell["min_us"] <= cell["median_us"] <= cell["p95_us"] for cell in job["cells"])


@pytest.mark.mpi
def test_kinds_that_alternate_come_equally_often(mpi, tmp_path):
    words = "--kinds bcast:8:1,allreduce:4K:uint32,scan:8:dup,barrier --mixed --budget-ms 1"
    job = run_program(mpi, 3, tmp_path, words)
    counts = {
        kind_of(cell)[0]: cell["operations"] + cell["missed"]
        for cell in job["cells"]
        if cell["condition"] == "mixed"
    }
    assert list(counts) == ["bcast", "allreduce", "scan", "barrier"]
    assert len(set(counts.values())) == 1 and counts["scan"] >= 3
    assert len(job["first_round"]) == 4


@pytest.mark.mpi
def test_the_order_follows_from_the_seed(mpi, tmp_path):
    def first_round(seed: int) -> list[str]:
        words = f"--kinds programs --mixed --seed {seed} --budget-ms 1"
        return run_program(mpi, 2, tmp_path, words)["first_round"]

    order, again, other = first_round(3), first_round(3), first_round(4)
    assert order == again
    assert order != other
    assert Counter(order) == Counter(other)


@pytest.mark.mpi
def test_hand_overs_are_reported_for_each_condition_if_ranks_have_cores(mpi, tmp_path):
    job = run_program(mpi, 2, tmp_path, "--kinds barrier --mixed --budget-ms 1")
    if job["yields"]:
        assert job["hand_overs"] == []
        return
    assert sorted(entry["condition"] for entry in job["hand_overs"]) == ["mixed", "plain"]
    assert all(0 < time < 1e6 for entry in job["hand_overs"] for time in entry["ns"])
    alone = run_program(mpi, 1, tmp_path, "--kinds barrier --budget-ms 1")
    assert alone["hand_overs"] == []


@pytest.mark.mpi
def test_every_collective_is_right_with_integers_and_on_the_duplicate(mpi, tmp_path):
    from tutti.bench.measurements import COLLECTIVES

    words = [name if name == "barrier" else f"{name}:1004:uint32:dup" for name in COLLECTIVES]
    kinds = ",".join(words)
    job = run_program(mpi, 3, tmp_path, f"--kinds {kinds} --mixed --cold 8K --budget-ms 1")
    assert {cell["collective"] for cell in job["cells"]} == set(COLLECTIVES)
    assert len(job["cells"]) == 4 * len(COLLECTIVES)


@pytest.mark.mpi
def test_a_stale_result_between_other_calls_is_noticed(mpi, broken, tmp_path):
    code = broken_code("Scan", ("static int calls; if (++calls == 200) return MPI_SUCCESS;", ""))
    words = "--kinds scan:64:uint32,bcast:64,allreduce:64 --mixed --iterations 150"
    status, _, err = launch(mpi, 2, tmp_path, words, preload=broken(code))
    assert status != 0 and "wrong result" in err and "scan:64:uint32" in err


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        ("--kinds bcast:12", "'bcast:12'"),
        ("--kinds bcast:8,programs", "'programs'"),
        ("--cold 0", "--cold"),
        ("--cold 2048M", "--cold"),
        ("--seed -1", "--seed"),
        ("--mixed --no-dirty", "--no-dirty"),
    ],
)
def test_bad_input(mpi, tmp_path, words, culprit):
    refuse(mpi, tmp_path, words, culprit)


@pytest.mark.mpi
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_run(document_of, mpi):
    """The command writes tables and JSON, with 2 and with 3 ranks."""
    with_tutti = find_program("tutti-run") is not None and find_interposer(mpi.abi) is not None
    words = "bench mixed --cold 64K --ranks 2,3 --repetitions 2 --budget-ms 1 --seed 9"
    words += f" --peer-settings default --mpi {mpi.name}" + ("" if with_tutti else " --no-tutti")
    document, said = document_of(words, is_silent=True, seconds=280)
    assert document["settings"]["kinds"] == "programs" and document["settings"]["seed"] == 9
    for ranks in (2, 3):
        cells = [cell for cell in document["cells"] if cell["ranks"] == ranks]
        assert Counter(cell["condition"] for cell in cells) == dict.fromkeys(CONDITIONS, 18)
        assert all(
            len(samples["median_us"]) == 2
            for cell in cells
            for samples in cell["variants"].values()
        )
    assert len(document["load"]["jobs"]) == 2 * (1 + with_tutti)
    assert [entry["ranks"] for entry in document["states"]["repetitions"]] == [2, 3]
    assert "seed 9" in said and "bcast 64 B from 2" in said
    if with_tutti:
        assert len(document["conditions"]["shuffled_over_repeated"]) == 2 * 2 * 18
        assert "Geometric means over the kinds of calls" in said
