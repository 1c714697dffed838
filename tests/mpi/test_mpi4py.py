"""mpi4py's own tests under the interposer, with its wheel and built from source."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest
import support

pytestmark = pytest.mark.mpi
CACHE = Path(os.environ.get("TEST_TUTTI_CACHE", support.ROOT / ".cache"))
FEW = ["test_cco_buf", "test_cco_obj"]
COLLECTIVE = ["test_cco", "test_comm", "test_op", "test_attributes", "test_threads", "test_ulfm"]
REQUESTS = [
    "test_cco_nb_buf",
    "test_cco_nb_vec",
    "test_cco_pr_buf",
    "test_cco_pr_vec",
    "test_cco_ngh_buf",
    "test_cco_pr_ngh_buf",
]
# The collectives that REQUESTS start.
OUTLIVING = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "scan",
    "exscan",
    "neighbor_allgather",
    "neighbor_alltoall",
}
EXPECTED = ["barrier", "bcast", "reduce", "allreduce", "scan", "allgather", "alltoall"]
OFFLINE = (
    "No matching distribution",
    "Could not find a version",
    "ConnectionError",
    "Failed to establish",
)


@pytest.fixture(params=["mpich", "openmpi"])
def python(request, host_named):
    """(host, the interpreter of its environment) if mpi4py's wheel is installed there."""
    host = host_named(request.param)
    interpreter = Path(host.launcher).parent / "python"
    probe = subprocess.run(
        [interpreter, "-c", "import mpi4py"], capture_output=True, timeout=60, check=False
    )
    if probe.returncode != 0:
        pytest.skip(f"{interpreter} has no mpi4py")
    return host, interpreter


def version_of(interpreter):
    return subprocess.run(
        [interpreter, "-c", "import mpi4py; print(mpi4py.__version__)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.strip()


def unpack(archive, directory):
    with tarfile.open(archive) as file:
        if hasattr(tarfile, "data_filter"):
            file.extractall(directory, filter="data")
        else:
            file.extractall(directory)


def source_package(version):
    """The directory of mpi4py's sources of this version, downloaded once.

    Several workers of pytest may ask for it at the same time. The archive, then the directory
    appear under their names only when they are complete.
    """
    directory = CACHE / f"mpi4py-{version}"
    CACHE.mkdir(exist_ok=True)
    with open(CACHE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not directory.exists():
            download(version)
    return directory


def download(version):
    """Puts mpi4py's source archive and its contents into the cache."""
    with tempfile.TemporaryDirectory(prefix=f"mpi4py-{version}.", dir=CACHE) as scratch:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            "mpi4py",
            "-d",
            scratch,
            f"mpi4py=={version}",
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
        if result.returncode != 0:
            pytest.skip(
                f"mpi4py's sources cannot be downloaded: {result.stderr.strip().splitlines()[-1:]}"
            )
        archive = Path(scratch) / f"mpi4py-{version}.tar.gz"
        unpack(archive, scratch)
        archive.rename(CACHE / archive.name)
        (Path(scratch) / f"mpi4py-{version}").rename(CACHE / f"mpi4py-{version}")


def target_for(host, interpreter, version):
    """The directory of a built mpi4py; the extension module fits one interpreter and one MPI."""
    probe = "import sysconfig; print(sysconfig.get_config_var('SOABI'))"
    tag = subprocess.run(
        [interpreter, "-c", probe], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    return CACHE / f"mpi4py-{version}-{host.name}-{tag.strip()}"


def build(host, interpreter, version, target):
    """Builds mpi4py's source package into target, which appears only when it is complete."""
    source_package(version)
    # Debian's Python searches the system's directory first, which may have the libmpi.so of
    # another MPI.
    libraries = Path(host.compiler).parent.parent / "lib"
    environment = support.clean_environment() | {
        "MPICC": host.compiler,
        "CFLAGS": "-O0",
        "LDFLAGS": f"-L{libraries}",
    }
    scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=CACHE))
    install = [
        interpreter,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-binary",
        "mpi4py",
        "--target",
        scratch,
        CACHE / f"mpi4py-{version}.tar.gz",
    ]
    try:
        result = support.run(install, environment=environment, timeout=400)
        said = (result.stdout + result.stderr).splitlines()
        offline = [line.strip() for line in said if any(sign in line for sign in OFFLINE)]
        if result.returncode != 0 and offline:
            pytest.skip(f"the requirements of mpi4py's build cannot be downloaded: {offline[-1]}")
        assert result.returncode == 0, (
            f"mpi4py does not build\n{result.stdout[-4000:]}\n{result.stderr[-8000:]}"
        )
        scratch.chmod(0o755)  # another user may run the tests next
        scratch.rename(target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.fixture(scope="session")
def from_source():
    """from_source(host, interpreter) is a directory for PYTHONPATH with mpi4py, built by the
    host's mpicc.

    The directory is kept for later runs.
    """

    def target_of(host, interpreter):
        compiles = [host.compiler, "-E", "-x", "c", os.devnull]
        if subprocess.run(compiles, capture_output=True, timeout=60, check=False).returncode != 0:
            pytest.skip(f"{host.compiler} finds no C compiler")
        version = version_of(interpreter)
        target = target_for(host, interpreter, version)
        if not target.exists():
            build(host, interpreter, version, target)
        return target

    return target_of


def run_own_tests(python, ranks, modules, timeout, report=None, **variables):
    host, interpreter = python
    main = source_package(version_of(interpreter)) / "test" / "main.py"
    selection = [word for module in modules for word in ("-i", module)]
    result = support.job(
        host,
        ranks,
        interpreter,
        main,
        "-f",
        *selection,
        options=[f"--report={report}"] if report else [],
        variables=variables,
        timeout=timeout,
    )
    assert result.returncode == 0, f"{result.stdout[-4000:]}\n{result.stderr[-8000:]}"
    assert "OK" in result.stderr, result.stderr[-4000:]
    return result


def check_served(python, directory, **variables):
    """Runs a few buffer collectives, expects them in the report; returns where mpi4py was imported
    from.
    """
    host, interpreter = python
    script, report = directory / "script.py", directory / "report.json"
    script.write_text(
        "from array import array\n"
        "import mpi4py\n"
        "from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "for i in range(20):\n"
        "    one, total = array('d', [1.0] * 5), array('d', [0.0] * 5)\n"
        "    world.Allreduce(one, total)\n"
        "    assert list(total) == [world.size] * 5\n"
        "    world.Bcast(total, root=i % world.size)\n"
        "    world.Reduce(one, total, root=0)\n"
        "    world.Scan(one, total)\n"
        "    assert list(total) == [world.rank + 1] * 5\n"
        "    whole = array('d', [0.0] * 5 * world.size)\n"
        "    world.Allgather(one, whole)\n"
        "    world.Alltoall(MPI.IN_PLACE, whole)\n"
        "    assert list(whole) == [1.0] * 5 * world.size\n"
        "    world.Barrier()\n"
        "if world.rank == 0:\n"
        "    print(mpi4py.__file__)\n"
    )
    result = support.job(
        host, 2, interpreter, script, options=[f"--report={report}"], variables=variables
    )
    assert result.returncode == 0, result.stderr
    served = {
        row["collective"]: row["calls"] for row in json.loads(report.read_text())["collectives"]
    }
    assert all(served.get(name, 0) >= 30 for name in EXPECTED), served
    return Path(result.stdout.strip())


def test_own_tests(python):
    run_own_tests(python, 2, FEW, timeout=60, TUTTI_SETUP_AFTER="0")


# (MPI, ranks, TUTTI_SETUP_AFTER).
WHOLE = [
    ("mpich", 1, "0"),
    ("openmpi", 1, "3"),
    ("mpich", 2, "3"),
    ("openmpi", 2, "0"),
    ("mpich", 3, "0"),
    ("openmpi", 3, "3"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("python", "ranks", "setup_after"), WHOLE, indirect=["python"])
def test_own_collective_tests(python, ranks, setup_after):
    run_own_tests(python, ranks, COLLECTIVE, timeout=280, TUTTI_SETUP_AFTER=setup_after)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("python", "module"),
    [("mpich", "test_cco_buf"), ("openmpi", "test_cco_nb_buf")],
    indirect=["python"],
)
def test_own_collective_tests_of_five_ranks(python, module):
    """Some of those of buffers; others take minutes if there are more ranks than cores."""
    setup_after = {"mpich": "0", "openmpi": "3"}[python[0].name]
    run_own_tests(python, 5, [module], timeout=280, TUTTI_SETUP_AFTER=setup_after)


@pytest.mark.slow
@pytest.mark.parametrize(("python", "ranks"), [("mpich", 2), ("openmpi", 3)], indirect=["python"])
def test_tutti_serves_requests(python, tmp_path, ranks):
    """mpi4py's tests of non-blocking, persistent and neighbourhood collectives, which Tutti serves
    by records.
    """
    report = tmp_path / "report.json"
    run_own_tests(python, ranks, REQUESTS, 200, report=report, TUTTI_SETUP_AFTER="0")
    document = json.loads(report.read_text())
    served, by_host = {}, {}
    for row in document["collectives"]:
        if "records" in row["algorithm"] or "neighbours" in row["algorithm"]:
            served[row["collective"]] = served.get(row["collective"], 0) + row["calls"]
        if row["host_calls"]:
            by_host[row["collective"]] = by_host.get(row["collective"], 0) + row["host_calls"]
    assert served.keys() == OUTLIVING
    assert all(calls >= 500 for calls in served.values()), served
    by_host.pop("barrier")  # blocking ones on communicators that do not live long
    assert by_host == {}, document["host_reasons"]


def test_calls_arrive(python, tmp_path):
    """Tutti serves the buffer collectives of the wheel, whatever way it loads MPI."""
    check_served(python, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("python", ["openmpi"], indirect=True)
def test_own_tests_built_from_source(python, from_source, tmp_path):
    """Built from source, mpi4py is linked to its MPI, while the wheel loads it at import.

    The build takes minutes, so it is tried with one MPI.
    """
    target = from_source(*python)
    place = check_served(python, tmp_path, PYTHONPATH=str(target))
    assert place.is_relative_to(target), f"{place} is not the module that was built in {target}"
    result = run_own_tests(
        python, 2, FEW, timeout=90, PYTHONPATH=str(target), TUTTI_SETUP_AFTER="0"
    )
    assert f"({target}{os.sep}mpi4py)" in result.stderr, result.stderr[-4000:]
