"""torch.distributed's backend "tutti", beside gloo (cases.py has the cases)."""

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
        for line in (HERE / "cases.py").read_text().splitlines()
        if line.startswith("def test_")
    ]
    told = run_torch(HERE / "cases.py", str(ranks))
    assert [line.split()[0] for line in told.splitlines()] == names


def test_killed_rank(run_torch: Callable[..., str]) -> None:
    """The others get an error that names it."""
    told = run_torch(HERE / "killed.py")
    assert told.count("rank 1 has ended") == 2


def test_rounds_of_kill(run_torch: Callable[..., str]) -> None:
    """A short form: 1,000 rounds take half an hour. The seed differs each time, and errors name it."""
    told = run_torch(HERE / "kill_rounds.py", "8", str(random.randrange(10**6)))
    assert told.startswith("8 rounds")


def test_tensor_parallel(run_torch: Callable[..., str]) -> None:
    told = run_torch(EXAMPLES / "tensor_parallel.py", "--ranks", "2", "--tokens", "4")
    assert "same answers" in told


def test_data_parallel(run_torch: Callable[..., str]) -> None:
    told = run_torch(EXAMPLES / "data_parallel.py", "--ranks", "2", "--steps", "4")
    assert "same weights" in told
