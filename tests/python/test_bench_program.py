"""tutti-bench itself: it refuses bad input, and notices collectives that compute wrong results."""

import itertools
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from retries import note_retry
from tutti.bench.driver import bench_job, execute_job, execute_own, measure_limits
from tutti.bench.measurements import COLLECTIVES, DEFAULT_COLLECTIVES
from tutti.bench.mpis import Mpi
from tutti.bench.variants import Variant, command, environment
from tutti.errors import RunError
from tutti.places import program
from tutti.rows import read_rows

pytestmark = pytest.mark.mpi


def launch(
    mpi: Mpi,
    ranks: int,
    directory: Path,
    words: str,
    preload: Path | None = None,
):
    """Starts tutti-bench with these words of one text; the result is (exit code, stdout, stderr)."""
    variant = Variant(mpi, "best" if ranks > 2 else "default", False)
    # Before the libraries that all jobs of the tests have (tests/conftest.py).
    preloaded = ":".join(filter(None, [preload and str(preload), os.environ.get("LD_PRELOAD")]))
    prefix = ["env", f"LD_PRELOAD={preloaded}"] if preload else []
    bench = [*prefix, str(program(f"tutti-bench-{mpi.abi}")), *words.split()]
    job = command(variant, ranks, "none", bench, None)
    # A job that found no time to measure in says so, and is tried again.
    for tries in range(3):
        code, out, err = execute_job(job, environment(variant, "none", directory), 120)
        if code == 0 or "every start was missed" not in err or tries == 2:
            break
        note_retry(err)
    return code, out, err


def run_program(mpi: Mpi, ranks: int, directory: Path, words: str, **more: Any) -> dict[str, Any]:
    """The same; the program must succeed, and the result is its job."""
    code, out, err = launch(mpi, ranks, directory, words, **more)
    assert code == 0, err
    return bench_job(read_rows(out.splitlines()))


def refuse(mpi: Mpi, directory: Path, words: str, culprit: str) -> None:
    """The program refuses the words with one line, which names the culprit."""
    code, _, err = launch(mpi, 2, directory, words)
    ours = [line for line in err.splitlines() if "tutti-bench:" in line]
    assert code == 2
    assert len(ours) == 1 and culprit in ours[0]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_cells_and_json(mpi, ranks, tmp_path):
    job = run_program(mpi, ranks, tmp_path, "--bytes 8,24,4K --budget-ms 2")
    assert (job["ranks"], job["interposed"], job["verified"]) == (ranks, False, True)
    assert [(c["collective"], c["bytes"]) for c in job["cells"]] == [
        *((name, size) for name in ("allreduce", "bcast", "reduce") for size in (8, 24, 4096)),
        ("barrier", 0),
    ]
    assert ("flag_exchange_us" in job) == (ranks == 2 and job["cores"] >= 2)
    assert job["yields"] == (ranks > job["cores"])
    for cell in job["cells"]:
        assert cell["operations"] >= 1
        assert 0 <= cell["min_us"] <= cell["median_us"] <= cell["p95_us"]
        assert cell["mean_us"] >= cell["min_us"]


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_collective_is_right_in_one_job(mpi, ranks, tmp_path):
    """The second size is an odd number of elements, so that uneven parts are rounded.

    The last rank is the root.
    """
    words = f"--collectives all --bytes 8,1000 --root {ranks - 1} --budget-ms 1"
    job = run_program(mpi, ranks, tmp_path, words)
    assert job["verified"] and "left_out" not in job
    assert [(c["collective"], c["bytes"]) for c in job["cells"]] == [
        (name, size) for name in COLLECTIVES for size in ((0,) if name == "barrier" else (8, 1000))
    ]
    assert all(0 <= c["min_us"] <= c["median_us"] <= c["p95_us"] for c in job["cells"])


def test_help_names_every_collective_and_the_usual_ones(mpi, tmp_path):
    code, out, err = launch(mpi, 1, tmp_path, "--help")
    assert code == 0, err
    words = out.replace(",", " ").replace(";", " ").split()
    assert all(name in words for name in COLLECTIVES)
    assert f"({','.join(DEFAULT_COLLECTIVES)})" in out


def test_the_former_name_of_bytes_works_and_one_line_names_the_new_one(mpi, tmp_path):
    words = "--collectives bcast --iterations 20"
    code, out, err = launch(mpi, 2, tmp_path, f"{words} --sizes 8,1K")
    assert code == 0, err
    job = bench_job(read_rows(out.splitlines()))
    assert [cell["bytes"] for cell in job["cells"]] == [8, 1024]
    ours = [line for line in err.splitlines() if line.startswith("tutti-bench:")]
    assert ours == ["tutti-bench: the next version takes only --bytes instead of --sizes"]
    code, _, err = launch(mpi, 2, tmp_path, f"{words} --bytes 8,1K")
    assert code == 0 and "tutti-bench:" not in err


def test_sizes_beyond_the_bound_are_left_out(mpi, tmp_path):
    """A rank's buffers have 256 MiB: for 2 x 2 parts in an alltoall, for 2 + 1 in a gather."""
    words = "--collectives gather,barrier,alltoallv --bytes 512M,8,1024M --budget-ms 1"
    code, out, err = launch(mpi, 2, tmp_path, words)
    assert code == 0, err
    job = bench_job(read_rows(out.splitlines()))
    assert [(c["collective"], c["bytes"]) for c in job["cells"]] == [
        ("gather", 8),
        ("barrier", 0),
        ("alltoallv", 8),
    ]
    assert [(c["collective"], c["bytes"]) for c in job["left_out"]] == [
        (name, size << 20) for name in ("gather", "alltoallv") for size in (512, 1024)
    ]
    said = [line for line in err.splitlines() if "left out" in line]
    assert (
        len(said) == 1
        and "256 MiB" in said[0]
        and "alltoallv of 536870912, 1073741824 bytes" in said[0]
    )


def test_fixed_iterations_and_nothing_but_rows(mpi, tmp_path):
    words = "--collectives allreduce --bytes 8 --iterations 37 --no-dirty"
    code, out, err = launch(mpi, 2, tmp_path, words)
    assert code == 0, err
    rows = read_rows(out.splitlines())
    assert len(rows) == len(out.splitlines())
    job = bench_job(rows)
    (cell,) = job["cells"]
    assert cell["operations"] <= 37 and not job["dirty"]


@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        ("--bytes 12", "12"),
        ("--bytes -8", "-8"),
        ("--bytes 99999999999999999999999", "9999"),
        ("--collectives neighbor_alltoallw", "neighbor_alltoallw"),
        ("--collectives all,scan", "'all'"),
        ("--collectives bcast,bcast", "bcast"),
        ("--iterations 0", "--iterations"),
        ("--root 2", "--root"),
        ("--nonsense 1", "--nonsense"),
        ("--cold", "--cold"),
        ("--forms blocking,blocking", "blocking"),
        ("--lengths flat", "--lengths"),
    ],
)
def test_bad_input(mpi, tmp_path, words, culprit):
    refuse(mpi, tmp_path, words, culprit)


# Each replaces a collective by one that is wrong in its own way.
WRONG = {
    "stale": (
        "allreduce",
        "int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, "
        "MPI_Comm c){ static int calls; if (++calls == 30) return MPI_SUCCESS; return "
        "PMPI_Allreduce(in, out, n, t, op, c); }",
    ),
    "last element": (
        "bcast",
        "int MPI_Bcast(void *data, int n, MPI_Datatype t, int root, MPI_Comm c)"
        "{ int r; PMPI_Bcast(data, n, t, root, c); MPI_Comm_rank(c, &r);"
        " if (r != root && t == MPI_DOUBLE) ((double *)data)[n - 1] += 1; return MPI_SUCCESS; }",
    ),
    "lost rank": (
        "reduce",
        "int MPI_Reduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, int root, "
        "MPI_Comm c){ (void)op; int r; MPI_Comm_rank(c, &r); double *d = (double *)out; if (r "
        "== root) for (int i = 0; i < n; ++i) d[i] = ((const double *)in)[i]; (void)t; return "
        "MPI_SUCCESS; }",
    ),
    "no barrier": ("barrier", "int MPI_Barrier(MPI_Comm c) { (void)c; return MPI_SUCCESS; }"),
}


@pytest.fixture
def broken(mpi: Mpi, tmp_path: Path):
    """Compiles a library with a wrong collective."""
    wrapper = mpi.prefix / "bin" / {"mpich": "mpicc", "openmpi": "mpicc"}[mpi.family]
    if mpi.prefix == Path("/usr"):
        wrapper = Path(f"/usr/bin/mpicc.{mpi.family}")
    if not wrapper.exists():
        pytest.skip("no compiler wrapper")

    def make(code: str) -> Path:
        source = tmp_path / "broken.c"
        source.write_text(f"#include <mpi.h>\n{code}\n")
        library = tmp_path / "libbroken.so"
        subprocess.run(
            [wrapper, "-shared", "-fPIC", source, "-o", library],
            check=True,
            timeout=60,
            capture_output=True,
        )
        return library

    return make


# The parameters, as in MPI's headers, of the collectives that the generated code below breaks.
PARAMETERS = {
    "Gather": "const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, int root, MPI_Comm c",
    "Scatter": "const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, int root, MPI_Comm c",
    "Allgather": "const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm c",
    "Alltoall": "const void *in, int n, MPI_Datatype t, void *out, int m, MPI_Datatype u, MPI_Comm c",
    "Reduce_scatter_block": "const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c",
    "Scan": "const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c",
    "Exscan": "const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c",
    "Gatherv": "const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u,"
    " int root, MPI_Comm c",
    "Scatterv": "const void *in, const int n[], const int at[], MPI_Datatype t, void *out, int m, MPI_Datatype u,"
    " int root, MPI_Comm c",
    "Allgatherv": "const void *in, int n, MPI_Datatype t, void *out, const int m[], const int at[], MPI_Datatype u, MPI_Comm c",
    "Alltoallv": "const void *in, const int n[], const int from[], MPI_Datatype t, void *out, const int m[], const int at[],"
    " MPI_Datatype u, MPI_Comm c",
    "Reduce_scatter": "const void *in, void *out, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c",
}
# Code before and after the true call. It swaps an element of the first part with one of the second.
OWN_RANK = "int rank; MPI_Comm_rank(c, &rank);"
MISPLACED = {
    "Gather": ("", f"{OWN_RANK} if (rank == root) swap(out, 0, n);"),
    "Scatter": (f"{OWN_RANK} if (rank == root) swap(in, 0, n);", ""),
    "Allgather": ("", "swap(out, 0, m);"),
    "Alltoall": ("swap(in, 0, n);", ""),
    "Reduce_scatter_block": ("swap(in, 0, n);", ""),
    "Scan": (
        "return PMPI_Allreduce(in, out, n, t, op, c);",
        "",
    ),  # sums over all ranks instead of those up to this one
    "Exscan": ("return PMPI_Scan(in, out, n, t, op, c);", ""),
    "Gatherv": ("", f"{OWN_RANK} if (rank == root) swap(out, at[0], at[1]);"),
    "Scatterv": (f"{OWN_RANK} if (rank == root) swap(in, at[0], at[1]);", ""),
    "Allgatherv": ("", "swap(out, at[0], at[1]);"),
    "Alltoallv": ("", "swap(out, at[0], at[1]);"),
    "Reduce_scatter": ("swap(in, 0, n[0]);", ""),
}
SWAP = """
static void swap(const void *data, int one, int other) {
  double *d = (double *)data, first = d[one];
  d[one] = d[other];
  d[other] = first;
}
"""
STALE = ("static int calls; if (++calls == 30) return MPI_SUCCESS;", "")


def broken_code(name: str, ways: tuple[str, str]) -> str:
    """The code of a function that replaces MPI_NAME."""
    parameters = PARAMETERS[name]
    words = ", ".join(word.split()[-1].strip("*[]") for word in parameters.split(","))
    before, after = ways
    swap = SWAP if "swap" in before + after else ""
    return (
        f"{swap}int MPI_{name}({parameters}) "
        f"{{ {before} int code = PMPI_{name}({words}); {after} return code; }}"
    )


WRONG |= {
    f"{name}, misplaced": (name.lower(), broken_code(name, ways))
    for name, ways in MISPLACED.items()
}
WRONG |= {
    f"{name}, stale": (name.lower(), broken_code(name, STALE))
    for name in ("Scatter", "Alltoallv", "Exscan")
}


# The checks are in the program and the same with every MPI, so one MPI tries all.
TRIED = [("mpich", way) for way in WRONG] + [("openmpi", way) for way in list(WRONG)[::6]]


@pytest.mark.parametrize(("mpi", "way"), TRIED, indirect=["mpi"])
def test_wrong_results_are_noticed(mpi, broken, tmp_path, way):
    collective, code = WRONG[way]
    words = f"--collectives {collective} --bytes 4K --iterations 100"
    status, out, err = launch(mpi, 2, tmp_path, words, preload=broken(code))
    assert status != 0
    assert ("wrong result" if collective != "barrier" else "let this rank out") in err


def test_right_results_are_not_refused(mpi, broken, tmp_path):
    """The same replacement, but with right results."""
    whole = "\n".join(broken_code(name, ("", "")) for name in PARAMETERS)
    words = "--collectives all --bytes 4K --budget-ms 1"
    run_program(mpi, 2, tmp_path, words, preload=broken(whole))


def test_limits_are_rows():
    limits = measure_limits()
    assert limits["yield_hand_over_ns"] > 0
    assert all(rate > 0 for rate in limits["copy_one_core_gb_per_s"].values())
    with pytest.raises(RunError, match="tutti-threads: limits takes no options"):
        execute_own("limits", {"x": 1}, 60)


def test_the_matrix_has_each_pair_once():
    rows = execute_own("matrix", {}, 120)
    pairs = itertools.combinations(sorted(os.sched_getaffinity(0)), 2)
    assert [tuple(row["units"]) for row in rows] == list(pairs)
    assert all(row["ns"] > 0 for row in rows)
