"""Results compared with the host MPI's: types, operations, roots, counts and layouts."""

import json
import re

import pytest
from support import expect_ok, job

RANKS = [1, 2, 3, 4, 5, 7, 8]
pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", ["reductions", "derived", "layouts"])
def test_results(host, compiled, name, ranks):
    expect_ok(job(host, ranks, compiled(host, name)))


def test_mpi_bottom_on_mpich_4(host_named, compiled):
    """Issue 33: its MPI_Pack takes no null buffer, and the first use of a type was packed by it."""
    host = host_named("debian-mpich")
    expect_ok(job(host, 2, compiled(host, "derived")))


HOSTS = ["mpich", "openmpi", "mpiabi"]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["reductions", "derived"])
def test_results_thoroughly(host, compiled, name, ranks):
    """Each job tests a slice of all triples of type, operation and count in reductions, one for
    each rank count. So every triple is tested with every host.
    """
    words = ["thorough", (HOSTS.index(host.name) + RANKS.index(ranks)) % len(RANKS), len(RANKS)]
    expect_ok(job(host, ranks, compiled(host, name), *words, options=["--check"], timeout=280))


@pytest.mark.slow
def test_layouts_thoroughly(host, compiled):
    program = compiled(host, "layouts")
    expect_ok(job(host, 3, program, "thorough", options=["--check"], timeout=280))


# Other settings of the protocol: both ways to wait, both kinds of shared memory, little of it,
# short segments.
VARIABLES = {
    "spin": {"TUTTI_WAIT": "spin"},
    "yield": {"TUTTI_WAIT": "yield"},
    "posix": {"TUTTI_SHM": "posix"},
    "little memory": {"TUTTI_SHM_BYTES_PER_RANK": "32K"},
    "much memory": {"TUTTI_SHM_BYTES_PER_RANK": "4M"},
    "short segments": {"TUTTI_SEGMENT_BYTES": "256"},
    "halves": {"TUTTI_SEGMENT_BYTES": "halves"},
    "from the first call": {"TUTTI_SETUP_AFTER": "0"},
    "flat": {
        f"TUTTI_ALGORITHM_{name}": "flat" for name in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")
    },
    "binomial": {
        f"TUTTI_ALGORITHM_{name}": "binomial"
        for name in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")
    },
    "baseline": {"TUTTI_ISA": "baseline"},
}


def settings():
    """Each setting is tested with both programs and both rank counts, but not with each pair of
    these, and with a third of all triples of type, operation and count in reductions.
    """
    for number, (gear, variables) in enumerate(VARIABLES.items()):
        for turn, name in enumerate(["reductions", "derived"]):
            # With more ranks than cores, spinning takes a scheduler's tick for every hand-over.
            ranks = 4 if (number + turn) % 2 == 1 and gear != "spin" else 2
            words = ["few", number % 3, 3] if name == "reductions" else []
            yield pytest.param(name, ranks, words, variables, id=f"{name}-{ranks}-{gear}")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "ranks", "words", "variables"), settings())
def test_results_with_other_settings(host_named, compiled, name, ranks, words, variables):
    host = host_named("openmpi")
    expect_ok(job(host, ranks, compiled(host, name), *words, variables=variables))


def test_slots_take_their_pages_at_once(host, compiled):
    """Pins an error: a rank that at first only read got its pages one by one, with a fault in each
    call.
    """
    expect_ok(job(host, 2, compiled(host, "pages")))


@pytest.mark.parametrize("ranks", [2, 3])
def test_large_count_forms(host, compiled, ranks):
    expect_ok(job(host, ranks, compiled(host, "large_counts")))


@pytest.mark.slow
def test_counts_beyond_int(host_named, compiled):
    host = host_named("mpich")
    with open("/proc/meminfo", encoding="ascii") as file:
        available = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable"))
    if available < 8 * 1024 * 1024:
        pytest.skip("needs 8 GiB of memory")
    expect_ok(job(host, 2, compiled(host, "large_counts"), "huge"))


HOSTS_OF_RARE_TYPES = ["mpich", "openmpi", "mpiabi", "debian-mpich", "debian-openmpi"]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", HOSTS_OF_RARE_TYPES)
def test_types_without_kernels(host_named, compiled, tmp_path, name, ranks):
    """Tutti serves them by MPI_Reduce_local; only types that the host lacks go to the host."""
    host = host_named(name)
    report = tmp_path / "report.json"
    result = expect_ok(
        job(host, ranks, compiled(host, "rare_types"), options=[f"--report={report}"])
    )
    served = int(re.search(r"served (\d+)", result.stdout)[1])
    rows = json.loads(report.read_text())["collectives"]
    assert served > 0
    assert (
        sum(row["calls"] for row in rows if row["collective"] in ("reduce", "allreduce"))
        == served * ranks
    )


@pytest.mark.parametrize("name", HOSTS_OF_RARE_TYPES)
def test_undefined_operations_are_the_hosts(host_named, compiled, name):
    host = host_named(name)
    expect_ok(job(host, 2, compiled(host, "rare_types"), "errors"))
