"""The set of nodes of the tests in this directory, and the MPI programs that run on it."""

import os
import re
import subprocess
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", ROOT / "build"))
TUTTI_RUN = BUILD / "bin" / "tutti-run"
# Always the same for a tree, so that the next run cleans up after a killed one.
STATE = Path(os.environ.get("HOSTS_STATE", f"/run/tutti-hosts-{zlib.crc32(bytes(ROOT)):08x}"))


def environment(**variables):
    """This process's environment, without the variables of Tutti and of a surrounding job.

    Tutti sets up after one call, so that short programs test it.
    """
    own = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("TUTTI_", "PMI", "OMPI_", "PRTE_"))
    }
    return own | {"HOSTS_STATE": str(STATE), "TUTTI_SETUP_AFTER": "1"} | variables


def script(name, *words, code=0, timeout=200, **variables):
    """Runs tests/hosts/NAME on the set of nodes of these tests."""
    result = subprocess.run(
        [HERE / name, *map(str, words)],
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert code in (None, result.returncode), (
        f"{name} {words}: exit code {result.returncode}\n{result.stdout}\n{result.stderr}"
    )
    return result


def on(node, *command, **options):
    return script("run", node, *command, **options).stdout


def wait_for(condition, seconds=100):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def running(node, program):
    """The ids, in the node's namespace, of the processes that run this program."""
    lines = on(node, "ps", "-ww", "-eo", "pid,args").splitlines()
    return [
        line.split()[0] for line in lines if re.search(rf"\s{re.escape(str(program))}(\s|$)", line)
    ]


def named(node, name):
    """The ids of the processes with this name, of which the system keeps 15 letters."""
    lines = on(node, "ps", "-eo", "pid,comm").splitlines()
    return [line.split()[0] for line in lines if line.split()[1] == name[:15]]


def mpi_words(mpi, ranks, *command, placement=()):
    """The command line of tests/hosts/mpiexec."""
    return [
        str(word) for word in (HERE / "mpiexec", "--mpi", mpi, *placement, "-n", ranks, *command)
    ]
