"""Runs torch's tests of gloo with the backend "tutti". The files of tests are torch's own and are
not kept here: fetch test/distributed/test_c10d_gloo.py and test_c10d_common.py of torch's source.

    .torch/bin/python tests/torch/gloo_tests.py .../test_c10d_gloo.py [CLASS.METHOD ...]

The runner replaces the name of the backend in copies of both files, which it removes at the end.
Ranks are started by fork. Many tests ask for GPUs although they test nothing of theirs: they run on
CPUs. gloo_not_applicable.txt names the tests that do not apply, each with its reason. All others
must pass, or be skipped by torch; the exit status is 1 if one fails.
The tests need the package expecttest.
"""

import argparse
import datetime
import importlib
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist
import tutti.torch

NOT_APPLICABLE = Path(__file__).resolve().with_name("gloo_not_applicable.txt")


CPU = torch.device("cpu")
# What the tests do with GPUs, and what they do on CPUs instead: patterns of regular expressions.
ON_CPUS = {
    r"^ *torch\.cuda\.set_device\(.*\)\n": "",
    r"torch\.cuda\.current_device\(\)": '"cpu"',
    r"gpus_for_rank\(self\.world_size\)\[self\.rank\]\[0\]": '"cpu"',
    r"\.cuda\([^()]*\)": ".cpu()",
    r"\.to\(\s*(device=)?self\.rank\s*\)": '.to("cpu")',
    r"device=self\.rank\b": 'device="cpu"',
    r'device="cuda"': 'device="cpu"',
    r"device_ids=\[(self\.rank|device_id)\]": "device_ids=None",
    r'torch\.device\(f"cuda:{self\.rank}"\)': 'torch.device("cpu")',
    r"/cuda:{self\.rank}": "/cpu",
}


class StandIn:
    """Takes the place of ProcessGroupGloo, whose options have gloo's devices and threads."""

    class _Options:
        _timeout = 50.0

    def __new__(
        cls, store: Any, rank: int, size: int, options: Any = None, timeout: Any = None
    ) -> Any:
        limit = timeout or getattr(options, "_timeout", 50.0)
        if not isinstance(limit, datetime.timedelta):
            limit = datetime.timedelta(seconds=limit)
        return tutti.torch._create(store, rank, size, limit)

    @staticmethod
    def create_device(**_: Any) -> None:
        pass


def not_applicable() -> dict[str, str]:
    rows = [line.split(None, 1) for line in NOT_APPLICABLE.read_text().splitlines()]
    return {row[0]: row[1] for row in rows if row and row[0] != "#"}


def prepare(file: Path, folder: str) -> Any:
    """The module of tests, with the backend's name replaced."""
    for one in (file, file.with_name("test_c10d_common.py")):
        text = one.read_text().replace('"gloo"', '"tutti"')
        # A group's own device is gloo's alone.
        text = re.sub(r"^ *backend\.create_device\(.*\)\n", "", text, flags=re.MULTILINE)
        for pattern, instead in ON_CPUS.items():
            text = re.sub(pattern, instead, text, flags=re.MULTILINE)
        Path(folder, one.name).write_text(text)
    # Older files import a module that torch 2.13 does not have any more.
    for name in ("torch.distributed._spmd", "torch.distributed._spmd.comm_tensor"):
        sys.modules.setdefault(name, mock.MagicMock())
    dist.ProcessGroupGloo = StandIn
    os.environ.setdefault("DISTRIBUTED_TESTS_DEFAULT_TIMEOUT", "60")
    from torch.testing._internal import common_distributed

    fork = torch.multiprocessing.get_context("fork").Process
    common_distributed.MultiProcessTestCase._spawn_processes = lambda test: test._start_processes(
        fork
    )
    common_distributed.skip_if_lt_x_gpu = lambda *_, **__: lambda test: test
    # torch asks only its own backends for the number of a group.
    dist.ProcessGroup._get_sequence_number_for_group = lambda group: group._get_backend(
        CPU
    )._get_sequence_number_for_group()
    sys.path.insert(0, folder)
    module = importlib.import_module(file.stem)
    # One of its tests does nothing with fewer ranks.
    module.CommTest.world_size = 4
    return module


class Told(unittest.TextTestResult):
    """Prints a line for each test at once."""

    def startTest(self, test: unittest.TestCase) -> None:
        unittest.TestResult.startTest(self, test)

    def _tell(self, state: str, test: unittest.TestCase) -> None:
        print(state, name_of(test), flush=True)

    def addSuccess(self, test: unittest.TestCase) -> None:
        self._tell("passed", test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        self.skipped.append((test, reason))
        self._tell(f"skipped ({reason})", test)

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        unittest.TestResult.addFailure(self, test, error)
        self._tell("FAILED", test)

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        unittest.TestResult.addError(self, test, error)
        self._tell("FAILED", test)


def name_of(test: unittest.TestCase) -> str:
    return ".".join(test.id().split(".")[-2:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    excluded = {} if arguments.tests else not_applicable()
    with tempfile.TemporaryDirectory() as folder:
        module = prepare(arguments.file.resolve(), folder)
        every = [t for s in unittest.defaultTestLoader.loadTestsFromModule(module) for t in s]
        chosen = [
            test
            for test in every
            if (
                name_of(test) in arguments.tests
                if arguments.tests
                else name_of(test) not in excluded
            )
        ]
        runner = unittest.TextTestRunner(resultclass=Told, verbosity=0)
        result = runner.run(unittest.TestSuite(chosen))
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(
        f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped by torch, "
        f"{len(every) - len(chosen)} not run"
    )
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
