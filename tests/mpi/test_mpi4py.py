"""mpi4py as users have it: its own collective tests, from its source package, under the interposer."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import support

pytestmark = pytest.mark.mpi
CACHE = Path(os.environ.get("TUTTI_TEST_CACHE", support.ROOT / ".cache"))
FEW = ["test_cco_buf", "test_cco_obj"]
COLLECTIVE = ["test_cco", "test_comm", "test_op", "test_attributes", "test_threads"]


@pytest.fixture(params=["mpich", "openmpi"])
def python(request, host_named):
    """(host, the interpreter of its environment), where mpi4py's wheel is installed."""
    host = host_named(request.param)
    interpreter = Path(host.launcher).parent / "python"
    probe = subprocess.run([interpreter, "-c", "import mpi4py"], capture_output=True, timeout=60, check=False)
    if probe.returncode != 0:
        pytest.skip(f"{interpreter} has no mpi4py")
    return host, interpreter


def version_of(interpreter):
    return subprocess.run([interpreter, "-c", "import mpi4py; print(mpi4py.__version__)"], capture_output=True,
                          text=True, timeout=60, check=True).stdout.strip()


def source_package(version):
    """The directory of mpi4py's sources of this version, downloaded once."""
    directory = CACHE / f"mpi4py-{version}"
    if not directory.exists():
        CACHE.mkdir(exist_ok=True)
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py", "-d", CACHE,
                    f"mpi4py=={version}"]
        result = subprocess.run(download, capture_output=True, text=True, timeout=240, check=False)
        if result.returncode != 0:
            pytest.skip(f"mpi4py's sources cannot be downloaded: {result.stderr.strip().splitlines()[-1:]}")
        with tarfile.open(next(CACHE.glob(f"mpi4py-{version}.tar.gz"))) as archive:
            archive.extractall(CACHE, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(CACHE)
    return directory


def run_own_tests(python, ranks, modules, timeout, **variables):
    host, interpreter = python
    main = source_package(version_of(interpreter)) / "test" / "main.py"
    selection = [word for module in modules for word in ("-i", module)]
    result = support.job(host, ranks, interpreter, main, "-f", "-q", *selection, variables=variables, timeout=timeout)
    assert result.returncode == 0, f"{result.stdout[-4000:]}\n{result.stderr[-8000:]}"
    assert "OK" in result.stderr, result.stderr[-4000:]


def test_own_tests(python):
    run_own_tests(python, 2, FEW, timeout=60, TUTTI_SETUP_AFTER="0")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
@pytest.mark.parametrize("setup_after", ["0", "3"])
def test_own_collective_tests(python, ranks, setup_after):
    run_own_tests(python, ranks, COLLECTIVE, timeout=280, TUTTI_SETUP_AFTER=setup_after)


def test_calls_arrive(python, tmp_path):
    """Whatever way the wheel binds MPI, its buffer collectives are served."""
    host, interpreter = python
    script = tmp_path / "script.py"
    script.write_text(
        "from array import array\n"
        "from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "for i in range(20):\n"
        "    one, total = array('d', [1.0] * 5), array('d', [0.0] * 5)\n"
        "    world.Allreduce(one, total)\n"
        "    assert list(total) == [world.size] * 5\n"
        "    world.Bcast(total, root=i % world.size)\n"
        "    world.Reduce(one, total, root=0)\n"
        "    world.Barrier()\n")
    report = tmp_path / "report.json"
    result = support.job(host, 2, interpreter, script, options=[f"--report={report}"])
    assert result.returncode == 0, result.stderr
    served = {row["collective"]: row["calls"] for row in json.loads(report.read_text())["collectives"]}
    assert all(served.get(name, 0) >= 30 for name in ("barrier", "bcast", "reduce", "allreduce")), served
