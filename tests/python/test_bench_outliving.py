"""tutti-bench itself: non-blocking and persistent calls, calls beside computations, and exchanges
of ghost cells. It notices those that compute wrong results.
"""

import pytest
from test_bench_program import PARAMETERS, broken, launch, refuse, run_program
from tutti.bench.measurements import COLLECTIVES
from tutti.bench.ways import WAYS

__all__ = ["broken"]  # a fixture
pytestmark = pytest.mark.mpi
FORMS = ("blocking", "nonblocking", "persistent")


def forms_of(job: dict) -> tuple[str, ...]:
    return FORMS[:2] if job.get("form_left_out") == "persistent" else FORMS


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_collective_is_right_in_every_form(mpi, ranks, tmp_path):
    """The second size is an odd number of elements, so that uneven parts are rounded."""
    words = f"--collectives all --bytes 8,1000 --root {ranks - 1} --forms {','.join(FORMS)}"
    job = run_program(mpi, ranks, tmp_path, f"{words} --budget-ms 1")
    assert [(c["collective"], c["bytes"], c["form"]) for c in job["cells"]] == [
        (name, size, form)
        for name in COLLECTIVES
        for size in ((0,) if name == "barrier" else (8, 1000))
        for form in forms_of(job)
    ]
    assert job["verified"]
    starts = [cell for cell in job["cells"] if "start_us" in cell]
    assert starts and all(cell["form"] != "blocking" for cell in starts)
    assert all(0 < cell["start_us"] for cell in starts)


def test_forms_alternate_with_other_kinds(mpi, tmp_path):
    kinds = "allreduce:8,bcast:4K:1,alltoallv:64:uint32,scan:8:dup"
    words = f"--kinds {kinds} --forms {','.join(FORMS)} --mixed --cold 64K --budget-ms 1"
    job = run_program(mpi, 3, tmp_path, words)
    forms = forms_of(job)
    for condition in ("plain", "mixed", "cold", "mixed+cold"):
        found = [(c["collective"], c["form"]) for c in job["cells"] if c["condition"] == condition]
        assert found == [
            (name, form) for name in ("allreduce", "bcast", "alltoallv", "scan") for form in forms
        ]
    assert len(job["first_round"]) == 4 * len(forms)


ALLREDUCE = "const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c"
WRONG = {
    "a stale result": (
        "--collectives allreduce --forms nonblocking",
        f"int MPI_Iallreduce({ALLREDUCE}, MPI_Request *request) {{ static int calls; "
        "return ++calls == 30 ? PMPI_Ibarrier(c, request) : "
        "PMPI_Iallreduce(in, out, n, t, op, c, request); }",
        "wrong result",
    ),
    "lost elements": (
        "--collectives gather --forms nonblocking",
        f"int MPI_Igather({PARAMETERS['Gather']}, MPI_Request *request) "
        "{ return PMPI_Igather(in, n - 1, t, out, m - 1, u, root, c, request); }",
        "wrong result",
    ),
    "a persistent operation without its last element": (
        "--collectives allreduce --forms persistent",
        f"int MPI_Allreduce_init({ALLREDUCE}, MPI_Info info, MPI_Request *request) "
        "{ return PMPI_Allreduce_init(in, out, n - 1, t, op, c, info, request); }",
        "wrong result",
    ),
    "no barrier": (
        "--collectives barrier --forms nonblocking",
        "int MPI_Ibarrier(MPI_Comm c, MPI_Request *request) "
        "{ (void)c; return PMPI_Ibarrier(MPI_COMM_SELF, request); }",
        "let this rank out",
    ),
    "a wait that does not wait": (
        "--collectives bcast --forms nonblocking",
        "int MPI_Wait(MPI_Request *request, MPI_Status *status) "
        "{ static MPI_Request kept[64]; static int calls; "
        "if (calls < 64) { kept[calls++] = *request; *request = MPI_REQUEST_NULL; "
        "(void)kept; return MPI_SUCCESS; } return PMPI_Wait(request, status); }",
        "wrong result",
    ),
    "wrong beside a computation": (
        "--collectives allreduce --forms blocking,nonblocking --overlap 5",
        f"int MPI_Iallreduce({ALLREDUCE}, MPI_Request *request) {{ static int calls; "
        "return PMPI_Iallreduce(in, out, n - (++calls > 200), t, op, c, request); }",
        "wrong result",
    ),
}


@pytest.mark.parametrize("way", WRONG)
def test_wrong_results_are_noticed(mpi, broken, tmp_path, way):
    words, code, said = WRONG[way]
    words += " --bytes 4K --iterations 100"
    status, _, err = launch(mpi, 2, tmp_path, words, preload=broken(code))
    assert status != 0 and said in err


@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_beside_computations(mpi, ranks, tmp_path):
    words = f"--collectives barrier,bcast --bytes 8,4K --forms {','.join(FORMS)} --budget-ms 1"
    job = run_program(mpi, ranks, tmp_path, f"{words} --overlap 3,4.5,20")
    forms = forms_of(job)
    kinds = (("barrier", 0, 3.0), ("bcast", 8, 4.5), ("bcast", 4096, 20.0))
    expected = []
    for name, size, time in kinds:
        expected += [(name, size, form, None, None) for form in forms]
        for work in ("arithmetic", "memory"):
            expected += [(name, size, form, work, time) for form in ("none", *forms)]
    keys = ("collective", "bytes", "form", "work", "work_us")
    assert [tuple(cell.get(key) for key in keys) for cell in job["cells"]] == expected


def test_a_computation_takes_as_long_as_the_blocking_call(mpi, tmp_path):
    words = "--collectives allreduce --bytes 32K --overlap call --budget-ms 1"
    job = run_program(mpi, 2, tmp_path, words)
    cells = job["cells"]
    assert [(cell["form"], cell.get("work")) for cell in cells] == [
        ("blocking", None),
        *((form, work) for work in ("arithmetic", "memory") for form in ("none", "blocking")),
    ]
    assert all(cell["work_us"] == cells[0]["median_us"] for cell in cells[1:])


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 8])
def test_every_way_to_exchange_ghost_cells_is_right(mpi, ranks, tmp_path):
    job = run_program(mpi, ranks, tmp_path, "--halo 4,36,1K --budget-ms 1")
    ways = [way for way in WAYS if "form_left_out" not in job or not way.endswith("_init")]
    assert [(cell["collective"], cell["bytes"], cell["form"]) for cell in job["cells"]] == [
        ("halo", face, way) for face in (4, 36, 1024) for way in ways
    ]
    assert job["verified"] and all(cell["median_us"] > 0 for cell in job["cells"])
    assert not any(cell["in_order"] for cell in job["cells"] if cell["form"] == "isend_irecv")


def test_exchanges_of_ghost_cells_beside_computations(mpi, tmp_path):
    """Each way with types alone, and then beside each loop, whose computation is measured, too."""
    job = run_program(mpi, 2, tmp_path, "--halo 36,1K --overlap 3,5 --budget-ms 1")
    ways = list(WAYS)[:4]
    if "form_left_out" in job:
        ways.remove("neighbor_alltoallw_init")
    expected = []
    for face, time in ((36, 3), (1024, 5)):
        expected += [(face, way, None, None) for way in ways]
        for work in ("arithmetic", "memory"):
            expected += [(face, way, work, time) for way in ("none", *ways)]
    keys = ("bytes", "form", "work", "work_us")
    assert [tuple(cell.get(key) for key in keys) for cell in job["cells"]] == expected
    assert all(cell["collective"] == "halo" for cell in job["cells"])
    starts = {cell["form"] for cell in job["cells"] if "start_us" in cell}
    assert starts == set(ways) - {"neighbor_alltoallw"}


def test_ghost_cells_need_a_computation_for_all_sizes_or_each(mpi, tmp_path):
    status, _, err = launch(mpi, 2, tmp_path, "--halo 4,64,1K --overlap 1,2")
    assert status != 0 and "neither one number nor one for each kind or size of a face" in err


NEIGHBOURS = (
    "int MPI_Neighbor_alltoallw(const void *in, const int *n, const MPI_Aint *at, "
    "const MPI_Datatype *t, void *out, const int *m, const MPI_Aint *to, const MPI_Datatype *u, "
    "MPI_Comm c) { %s }"
)
TRUE_CALL = "return PMPI_Neighbor_alltoallw(in, n, at, t, out, m, to, u, c);"
# Each neighbour gets the face of the opposite direction.
SWAPPED = NEIGHBOURS % (
    "MPI_Datatype other[6]; for (int i = 0; i < 6; ++i) other[i] = t[i ^ 1]; "
    "return PMPI_Neighbor_alltoallw(in, n, at, other, out, m, to, u, c);"
)
WRONG_EXCHANGES = {
    "stale": NEIGHBOURS % f"static int calls; if (++calls == 30) return MPI_SUCCESS; {TRUE_CALL}",
    "a face of the wrong row": NEIGHBOURS
    % (
        "MPI_Aint later[6]; for (int i = 0; i < 6; ++i) later[i] = at[i] + (i == 5 ? 4 : 0); "
        "return PMPI_Neighbor_alltoallw(in, n, later, t, out, m, to, u, c);"
    ),
    "packed, stale": "int MPI_Neighbor_alltoall(const void *in, int n, MPI_Datatype t, void *out, "
    "int m, MPI_Datatype u, MPI_Comm c) { static int calls; if (++calls == 30) return MPI_SUCCESS; "
    "return PMPI_Neighbor_alltoall(in, n, t, out, m, u, c); }",
}


@pytest.mark.parametrize("way", WRONG_EXCHANGES)
def test_wrong_ghost_cells_are_noticed(mpi, broken, tmp_path, way):
    words, library = "--halo 1K --iterations 40", broken(WRONG_EXCHANGES[way])
    status, _, err = launch(mpi, 2, tmp_path, words, preload=library)
    assert status != 0 and "wrong result" in err and "ghost cell" in err


def test_the_order_of_both_faces_of_one_neighbour_is_found_and_told(mpi, broken, tmp_path):
    words = "--halo 64 --budget-ms 1"
    job = run_program(mpi, 2, tmp_path, words)
    usual = next(c["in_order"] for c in job["cells"] if c["form"] == "neighbor_alltoallw")
    swapped = run_program(mpi, 2, tmp_path, words, preload=broken(SWAPPED))
    other = next(c["in_order"] for c in swapped["cells"] if c["form"] == "neighbor_alltoallw")
    assert other is not usual


def test_faces_of_different_neighbours_must_not_be_swapped(mpi, broken, tmp_path):
    words = "--halo 64 --iterations 4"
    status, _, err = launch(mpi, 3, tmp_path, words, preload=broken(SWAPPED))
    assert status != 0 and "wrong result" in err


@pytest.mark.parametrize(
    ("words", "culprit"),
    [
        ("--forms blocking,other", "'other'"),
        ("--forms persistent,persistent", "'persistent'"),
        ("--overlap 0", "--overlap '0'"),
        ("--overlap 1,x", "'x'"),
        ("--halo 8", "--halo '8'"),
        ("--halo 512K", "--halo '512K'"),
        ("--halo 4 --mixed", "--mixed"),
        ("--halo 4,64 --overlap 1,2 --cold 1M", "--cold"),
        ("--overlap call --cold 1M", "--cold"),
    ],
)
def test_bad_input(mpi, tmp_path, words, culprit):
    refuse(mpi, tmp_path, words, culprit)


def test_durations_for_other_kinds_are_refused(mpi, tmp_path):
    code, _, err = launch(mpi, 2, tmp_path, "--collectives barrier --overlap 1,2")
    assert code != 0 and "--overlap has neither one number nor one for each kind" in err
