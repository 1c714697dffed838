"""Runs programs with torch, which has an environment of its own (`make torch`)."""

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import tutti

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".torch" / "bin" / "python"

Run = Callable[..., str]


@pytest.fixture(scope="session")
def torch_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """That of programs with torch. The extension is compiled once and kept in build/."""
    if not PYTHON.exists():
        pytest.skip("torch is not installed; `make torch` installs it")
    beside = tmp_path_factory.mktemp("beside")
    assert tutti.__file__ is not None
    (beside / "tutti").symlink_to(Path(tutti.__file__).resolve().parent)
    environment = {
        **os.environ,
        "PYTHONPATH": str(beside),
        "XDG_CACHE_HOME": str(ROOT / "build" / "torch-cache"),
        "OMP_NUM_THREADS": "1",
    }
    first = tmp_path_factory.mktemp("first") / "compile.py"
    first.write_text("import tutti.torch.extension as extension; extension.load()")
    run_in(environment, first)  # takes a minute or two, once
    return environment


def run_in(environment: dict[str, str], program: Path | str, *arguments: str) -> str:
    done = subprocess.run(
        [str(PYTHON), "-W", "ignore", str(program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def run_torch(torch_environment: dict[str, str]) -> Run:
    """run_torch(PROGRAM, ARGUMENT...): its output."""
    return functools.partial(run_in, torch_environment)
