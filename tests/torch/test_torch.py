"""torch.distributed's backend "tutti", beside gloo (cases.py runs the cases)."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "torch"

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(300)]


@pytest.mark.parametrize("ranks", [2, 4])
def test_cases(run_torch: Callable[..., str], ranks: int) -> None:
    names = [
        line.split("(")[0][4:]
        for file in ("reductions.py", "movements.py", "works.py")
        for line in (HERE / file).read_text().splitlines()
        if line.startswith("def test_")
    ]
    told = run_torch(HERE / "cases.py", str(ranks))
    assert [line.split()[0] for line in told.splitlines()] == names


def test_killed_rank(run_torch: Callable[..., str]) -> None:
    """The others get an error that names it."""
    told = run_torch(HERE / "killed.py")
    assert told.count("rank 1 has ended") == 2


@pytest.mark.parametrize(
    "how, told",
    [
        ("ddp", "rank 1 has ended"),
        ("future", "rank 1 has ended"),
        ("poll", "rank 1 has ended"),
        ("stopped", "Timed out after 3000 ms"),
        ("late", "Timed out after 1000 ms"),
    ],
)
def test_lost_rank(run_torch: Callable[..., str], how: str, told: str) -> None:
    """Whoever waits by a future, by polls or in DistributedDataParallel gets an error, too."""
    assert told in run_torch(HERE / "lost_rank.py", how)


def test_leaving_rank(run_torch: Callable[..., str]) -> None:
    """A rank that ends waits for those that read its data."""
    assert run_torch(HERE / "leaving.py").count("all is there") == 2


def test_forked_children(run_torch: Callable[..., str]) -> None:
    assert run_torch(HERE / "forking.py").count("passed") == 2


@pytest.mark.parametrize("ranks", [2, 3])
def test_threads_of_ranks(run_torch: Callable[..., str], ranks: int) -> None:
    """Each rank prints a digest of its results, each of four times."""
    told = run_torch(HERE / "threads.py", str(ranks)).splitlines()
    assert len(told) == 4 * ranks and len(set(told)) == ranks, told


def test_torchrun(run_torch: Callable[..., str]) -> None:
    told = run_torch(
        *("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"),
        str(HERE / "by_torchrun.py"),
    )
    assert all(f"rank {rank} of 2 passed" in told for rank in (0, 1))


@pytest.mark.parametrize("ranks", [2, 4])
def test_distributed_tensors(run_torch: Callable[..., str], ranks: int) -> None:
    told = run_torch(HERE / "distributed_tensors.py", str(ranks))
    assert all(f"rank {rank} of {ranks} passed" in told for rank in range(ranks))


def test_rounds_of_kill(run_torch: Callable[..., str]) -> None:
    """A short form: 1,000 rounds take half an hour. The seed differs each time, and errors name it."""
    told = run_torch(HERE / "kill_rounds.py", "8", str(random.randrange(10**6)), "10")
    assert told.startswith("8 rounds")


def test_tensor_parallel(run_torch: Callable[..., str]) -> None:
    told = run_torch(EXAMPLES / "tensor_parallel.py", "--ranks", "2", "--tokens", "4")
    assert "same answers" in told


def test_data_parallel(run_torch: Callable[..., str]) -> None:
    told = run_torch(EXAMPLES / "data_parallel.py", "--ranks", "2", "--steps", "4")
    assert "same weights" in told
