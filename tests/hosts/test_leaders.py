"""Collectives whose leaders use the host MPI's own collective (`hierarchical+host`), over several
nodes.

Results are compared with the host's, for all roots and placements. Only leaders call the host, and
communicators of one node need no leaders.
"""

import json

import pytest
from several_nodes import script
from test_nodes import BLOCK, CYCLIC, MPIS, THREE, expect_ok

NODES = 4
pytestmark = [pytest.mark.mpi, pytest.mark.usefixtures("nodes")]
SERVED = ("barrier", "bcast", "reduce", "allreduce")


def by_host(spec="hierarchical+host", collectives=SERVED):
    return {f"TUTTI_ALGORITHM_{collective.upper()}": spec for collective in collectives}


def rows(report):
    return {row["collective"]: row for row in json.loads(report.read_text())["collectives"]}


QUICK = [
    (3, CYCLIC, "hierarchical+host"),
    (5, BLOCK, "hierarchical+host+binomial"),
    (8, THREE, "hierarchical+host"),
]
SLOW = [
    (4, BLOCK, "hierarchical+host"),
    (7, CYCLIC, "hierarchical+host+flat"),
    (8, CYCLIC, "hierarchical+host+levels"),
]


@pytest.mark.parametrize(
    ("ranks", "placement", "spec"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
@pytest.mark.parametrize("mpi", MPIS)
def test_random_calls(compiled, tmp_path, mpi, ranks, placement, spec):
    """Calls of every collective, in place or not, with users' operations, derived types and various
    communicators."""
    report = tmp_path / "report.json"
    expect_ok(
        mpi,
        ranks,
        compiled(mpi, "soak"),
        100,
        ranks,
        placement=placement,
        report=report,
        **by_host(spec),
    )
    assert json.loads(report.read_text())["among_leaders"]["hosts_calls"] > 0


@pytest.mark.parametrize("name", ["derived", "communicators"])
@pytest.mark.parametrize("mpi", MPIS)
def test_results(compiled, mpi, name):
    expect_ok(
        mpi, 7, compiled(mpi, name), placement=CYCLIC if name == "derived" else BLOCK, **by_host()
    )


@pytest.mark.slow
@pytest.mark.parametrize("mpi", MPIS)
def test_reductions(compiled, mpi):
    """All pairs of type and operation, each with a third of the counts, which differs by MPI."""
    program, third = compiled(mpi, "reductions"), MPIS.index(mpi)
    expect_ok(mpi, 7, program, "few", third, 3, placement=BLOCK, **by_host())


SETTINGS = {
    "messages alone": {"TUTTI_REACH": "net"},
    "checked": {"TUTTI_CHECK": "1"},
    "little memory": {"TUTTI_SHM_BYTES_PER_RANK": "32K"},
    "from the first call": {"TUTTI_SETUP_AFTER": "0"},
    "traced": {"TUTTI_TRACE": "{}/trace"},
}


@pytest.mark.parametrize("variables", SETTINGS.values(), ids=SETTINGS.keys())
def test_other_settings(compiled, tmp_path, variables):
    settings = {name: value.format(tmp_path) for name, value in variables.items()}
    expect_ok("mpich", 5, compiled("mpich", "soak"), 60, 7, **by_host(), **settings)


@pytest.mark.parametrize("collective", SERVED)
@pytest.mark.parametrize("mpi", MPIS)
def test_leaders_alone_ask_the_host(compiled, tmp_path, mpi, collective):
    """Each leader makes one host call for every call, and Tutti sends no inter-node message."""
    report, calls, size = tmp_path / "report.json", 10, 8
    expect_ok(
        mpi,
        8,
        compiled(mpi, "counted"),
        collective,
        calls,
        size,
        report=report,
        TUTTI_SETUP_AFTER="0",
        **by_host(collectives=(collective,)),
    )
    found = json.loads(report.read_text())
    assert found["among_leaders"] == {
        "hosts_calls": calls * NODES,
        "bytes": 0 if collective == "barrier" else calls * NODES * size,
    }
    assert found["messages"]["between_nodes"] == 0
    assert rows(report)[collective]["algorithm"] == "hierarchical+host"


def test_one_node_needs_no_leaders(compiled, tmp_path):
    report = tmp_path / "report.json"
    expect_ok(
        "mpich",
        3,
        compiled("mpich", "counted"),
        "allreduce",
        5,
        8,
        placement=THREE,
        report=report,
        TUTTI_SETUP_AFTER="0",
        **by_host("hierarchical+host+binomial"),
    )
    assert json.loads(report.read_text())["among_leaders"]["hosts_calls"] == 0
    assert rows(report)["allreduce"]["algorithm"] == "hierarchical+host+binomial"


def test_a_table_may_name_it(compiled, tmp_path):
    """A table can name it for some sizes; the other calls use messages."""
    table, report = tmp_path / "table", tmp_path / "report.json"
    table.write_text("tutti-map 1\nallreduce nodes 2.. sizes 1K.. -> builtin:hierarchical+host\n")
    for size, calls in ((8, 0), (4096, 10 * NODES)):
        expect_ok(
            "mpich",
            8,
            compiled("mpich", "counted"),
            "allreduce",
            10,
            size,
            report=report,
            TUTTI_SETUP_AFTER="0",
            TUTTI_TABLE=str(table),
        )
        found = json.loads(report.read_text())
        assert found["among_leaders"]["hosts_calls"] == calls
        assert (found["messages"]["between_nodes"] == 0) == (calls > 0)


@pytest.mark.parametrize(("variables", "says"), [
    (by_host(collectives=("gather",)), "for barrier, bcast, reduce and allreduce, not for gather"),
    (by_host() | {"TUTTI_REPRODUCIBLE": "run"}, "leaves the order of combining to the host MPI"),
    (by_host("hierarchical:leaders=2+host"), "leave out leaders=2"),
])  # fmt: skip
def test_algorithms_that_cannot_serve_are_refused_at_the_start(compiled, variables, says):
    from several_nodes import TUTTI_RUN, mpi_words

    words = mpi_words("mpich", 4, TUTTI_RUN, compiled("mpich", "counted"), "allreduce", 1, 8)[1:]
    result = script("mpiexec", *words, code=None, **variables)
    assert result.returncode != 0
    assert says in result.stderr, result.stderr
