"""The applications fft and multigrid: their answers are right, and the same with and without Tutti.

Both programs verify themselves: fft by the sums that NAS published or by transforms there and back,
multigrid by the order of its error. They end with 1 if that fails.
"""

from pathlib import Path

import numpy
import pytest
import support

pytestmark = pytest.mark.mpi


SECONDS = 100
PUBLISHED = {  # NAS's sums for class S after the first and the last iteration
    1: (554.6087004964, 484.5363331978),
    6: (554.2683411902, 493.2597244941),
}


def application(host, name):
    program = support.BUILD / "bin" / f"tutti-app-{name}-{host.abi}"
    if not program.exists():
        pytest.skip(f"{program.name} was not built")
    return program


def run(host, ranks, name, *arguments, tutti):
    """The programs have no path to their MPI, which `tutti bench --app` sets as this does."""
    libraries = {"LD_LIBRARY_PATH": str(Path(host.launcher).parents[1] / "lib")}
    program = application(host, name)
    return support.job(
        host, ranks, program, *arguments, tutti=tutti, variables=libraries, timeout=SECONDS
    )


def answers(host, ranks, name, *arguments, tutti):
    """What the program printed as answers, after it has verified them."""
    result = run(host, ranks, name, *arguments, tutti=tutti)
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"
    assert "# verification: passed" in result.stdout
    lines = (line.split() for line in result.stdout.splitlines())
    return {words[1]: words[2] for words in lines if words[0] == "answer"}


def both(host, ranks, name, *arguments):
    without = answers(host, ranks, name, *arguments, tutti=False)
    served = answers(host, ranks, name, *arguments, tutti=True)
    return without, served


def initial_numbers(nx, ny, nz):
    """NAS's random numbers, by Python's whole numbers instead of the program's 64 bits."""
    state, values = 314159265, numpy.empty(2 * nx * ny * nz)
    for index in range(values.size):
        state = state * 5**13 % 2**46
        values[index] = state / 2**46
    return values.view(complex).reshape(nz, ny, nx)


def sums_of(shape, iterations):
    """The sums by NumPy, serially: {iteration: (real, imaginary)}."""
    nx, ny, nz = shape
    transformed = numpy.fft.fftn(initial_numbers(nx, ny, nz))
    k = [numpy.fft.fftfreq(count, 1 / count) for count in (nz, ny, nx)]
    squares = k[0][:, None, None] ** 2 + k[1][None, :, None] ** 2 + k[2][None, None, :] ** 2
    j = numpy.arange(1, 1025)
    found = {}
    for time in range(1, iterations + 1):
        u = numpy.fft.ifftn(transformed * numpy.exp(-4e-6 * numpy.pi**2 * squares * time))
        total = u[5 * j % nz, 3 * j % ny, j % nx].sum()
        found[time] = (total.real, total.imag)
    return found


def check_sums(printed, expected):
    for time, (real, imaginary) in expected.items():
        assert float(printed[f"sum_{time}_real"]) == pytest.approx(real, rel=1e-12)
        assert float(printed[f"sum_{time}_imaginary"]) == pytest.approx(imaginary, rel=1e-12)


def test_numpy_finds_the_published_sums():
    expected = sums_of((64, 64, 64), 6)
    for time, sums in PUBLISHED.items():
        assert expected[time] == pytest.approx(sums, rel=1e-12)


@pytest.mark.parametrize("ranks", [1, 2])
def test_class_s(host_named, ranks):
    """Slabs: the published sums, and the same bits however it is transposed."""
    hashes = set()
    for name in ("mpich",) if ranks == 1 else ("mpich", "openmpi"):
        for words in (("--blocking",), ("--overlap",), ("--overlap", "--ahead", "2")):
            for printed in both(host_named(name), ranks, "fft", "--class", "S", *words):
                check_sums(printed, PUBLISHED)
                hashes.add(printed["hash"])
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("name", "ranks", "words"),
    [
        ("mpich", 3, ("--blocking",)),
        ("openmpi", 3, ("--overlap", "--slices", "3")),
        ("openmpi", 4, ("--grid", "2", "2")),
        ("mpich", 4, ("--grid", "4", "1", "--overlap")),
        ("mpich", 4, ("--grid", "2", "2", "--overlap", "--slices", "5")),
        ("openmpi", 4, ("--grid", "2", "2", "--overlap", "--slices", "2", "--ahead", "3")),
    ],
)
def test_parts_of_different_lengths(host_named, name, ranks, words):
    """Sizes that the ranks do not divide: MPI_Alltoallv, empty slices, pencils."""
    words = ("--size", "12", "10", "9", "--iterations", "2", *words)
    without, served = both(host_named(name), ranks, "fft", *words)
    expected = sums_of((12, 10, 9), 2)
    check_sums(without, expected)
    check_sums(served, expected)
    assert without["hash"] == served["hash"]


WAYS = ["messages", "get", "neighbours", "started", "persistent"]
TUTTIS = ["tutti_get", "tutti_put"]  # not without Tutti
SMALL = ("--side", "16", "--cycles", "8", "--solves", "1", "--bottom", "sweeps")


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_all_exchanges_move_the_same_bits(host_named, name):
    """Open MPI's jobs take a second to start; its own calls are tested in two ways."""
    alone = WAYS if name == "mpich" else ["messages", "neighbours"]
    jobs = [(way, True) for way in WAYS + TUTTIS] + [(way, False) for way in alone]
    found = [
        answers(host_named(name), 2, "multigrid", *SMALL, "--exchange", way, tutti=tutti)
        for way, tutti in jobs
    ]
    assert all(printed == found[0] for printed in found)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_several_solves_at_once(host_named, name):
    """Their messages and reductions are under way together; the last round has fewer solves."""
    words = (*SMALL, "--solves", "3")
    alone = answers(host_named(name), 2, "multigrid", *words, tutti=False)
    for way in WAYS + TUTTIS if name == "mpich" else ["messages"]:
        more = ("--together", "2", "--exchange", way)
        assert answers(host_named(name), 2, "multigrid", *words, *more, tutti=True) == alone


def test_ranks_and_threads_have_the_same_bits_as_boxes(host_named):
    """Eight boxes of one rank, of its three threads, and one box of each of eight ranks.

    The boxes have enough cells for three threads on the first level, and too few on the others.
    """
    words = (*SMALL, "--boxes", "8")
    alone = answers(host_named("mpich"), 1, "multigrid", *words, tutti=True)
    by_threads = answers(host_named("mpich"), 1, "multigrid", *words, "--threads", "3", tutti=True)
    assert by_threads == alone
    words = (*SMALL, "--exchange", "neighbours")
    assert answers(host_named("mpich"), 8, "multigrid", *words, tutti=True)["hash"] == alone["hash"]


@pytest.mark.parametrize(("name", "ranks"), [("mpich", 3), ("openmpi", 4)])
def test_conjugate_gradients(host_named, name, ranks):
    """Dot products of more than two ranks may be added up in another order."""
    words = ("--side", "16", "--cycles", "8", "--solves", "1", "--exchange", "started")
    for more in ((), ("--poisson",), ("--solves", "3", "--together", "3")):
        without, served = both(host_named(name), ranks, "multigrid", *words, *more)
        for answer, value in without.items():
            assert float(served[answer]) == pytest.approx(float(value), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "words", "says"),
    [
        ("fft", "--class Q", "--class: 'Q' is not accepted; give S, W or A"),
        ("fft", "--size 4 4", "give 3 whole numbers"),
        ("fft", "--grid 3 1", "--grid 3 1 needs 3 ranks, and there are 1"),
        ("fft", "--slices 2", "--slices needs --overlap"),
        ("fft", "--ahead 2", "--ahead needs --overlap"),
        ("fft", "--overlap --ahead 9", "give a whole number from 0 to 8"),
        ("fft", "--fast", "unknown option '--fast'"),
        ("multigrid", "--exchange pigeons", "give messages, get"),
        (
            "multigrid",
            "--exchange tutti_put",
            "tutti_get and tutti_put need Tutti; start the job under tutti-run",
        ),
        ("multigrid", "--side 24", "--side takes a power of two"),
        ("multigrid", "--side 8", "whole number from 16 to 256"),
        ("multigrid", "--boxes 9", "--boxes takes a cube"),
        ("multigrid", "--threads 0", "whole number from 1 to 1024"),
        ("multigrid", "--together 17", "whole number from 1 to 16"),
        ("multigrid", "--bottom top", "give gradients or sweeps"),
    ],
)
def test_mistakes(host_named, name, words, says):
    result = run(host_named("mpich"), 1, name, *words.split(), tutti=False)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1 and says in result.stderr
