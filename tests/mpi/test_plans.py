"""Users' plans and maps: the calls that they serve, and the messages if they cannot serve."""

import json

import pytest
import support

pytestmark = pytest.mark.mpi

TREE = """tutti-tree 1
collective allreduce
ranks {ranks}
{lists}
"""
# CHAIN always keeps rank order, MIXED never does.
CHAIN = {
    2: "reduce 0: 1",
    3: "reduce 0: 1\nreduce 1: 2",
    4: "reduce 0: 1\nreduce 1: 2\nreduce 2: 3",
}
MIXED = {3: "reduce 0: 2 1", 4: "reduce 0: 2 1\nreduce 2: 3"}


@pytest.fixture(params=["mpich", "openmpi"])
def host(request, host_named):
    return host_named(request.param)


@pytest.fixture
def plans(tmp_path):
    """plans(rules, name=text, ...) writes a map and files into a directory, over earlier ones."""

    def write(*rules, **files):
        directory = tmp_path / "plans"
        directory.mkdir(exist_ok=True)
        (directory / "map").write_text("tutti-map 1\n" + "".join(f"{rule}\n" for rule in rules))
        for name, text in files.items():
            (directory / name.replace("__", ".")).write_text(text)
        return directory

    return write


def tree(ranks, lists):
    return TREE.format(ranks=ranks, lists=lists)


def report_of(host, ranks, program, *arguments, directory=None, variables=None, tmp_path=None):
    """The report of a successful job, and its stderr."""
    file = tmp_path / "report.json"
    options = [f"--report={file}"] + ([f"--plans={directory}"] if directory else [])
    result = support.expect_ok(
        support.job(host, ranks, program, *arguments, options=options, variables=variables)
    )
    return json.loads(file.read_text()), result.stderr


def algorithms(report, collective, size=None):
    names = set()
    for row in report["collectives"]:
        if row["collective"] == collective and size in (None, row["size"]):
            names |= set(row["algorithm"].split(","))
    return names


def lines_with(text, part):
    return [line for line in text.splitlines() if part in line]


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_mapped_plan_runs(host, compiled, plans, tmp_path, ranks):
    directory = plans(
        f"allreduce ranks {ranks} -> chain.tree", chain__tree=tree(ranks, CHAIN[ranks])
    )
    report, error = report_of(
        host, ranks, compiled(host, "plans"), directory=directory, tmp_path=tmp_path
    )
    assert algorithms(report, "allreduce") == {"chain.tree"}
    assert "chain.tree" not in algorithms(report, "reduce")
    assert report["refused_plans"] == []
    assert "warning" not in error


def test_files_that_match_no_call_are_named(host_named, compiled, plans):
    """Once, also without a report: most likely the rules have other sizes or ranks than the calls."""
    host = host_named("mpich")
    directory = plans("allreduce ranks 7 -> builtin:flat", "bcast sizes 1G.. -> builtin:flat")
    for option in (f"--plans={directory}", f"--table={directory / 'map'}"):
        result = support.expect_ok(support.job(host, 2, compiled(host, "plans"), options=[option]))
        lines = lines_with(result.stderr, "no call of rank 0 matched a rule of")
        assert len(lines) == 1 and str(directory) in lines[0], result.stderr
    plans("allreduce ranks 2 -> builtin:flat")
    for option in (f"--plans={directory}", f"--table={directory / 'map'}"):
        result = support.expect_ok(support.job(host, 2, compiled(host, "plans"), options=[option]))
        assert result.stderr == ""


def test_changing_the_file_changes_the_mapping(host, compiled, plans, tmp_path):
    program = compiled(host, "plans")
    directory = plans("allreduce -> one.tree", one__tree=tree(3, CHAIN[3]))
    assert algorithms(
        report_of(host, 3, program, directory=directory, tmp_path=tmp_path)[0], "allreduce"
    ) == {"one.tree"}
    plans("allreduce sizes ..64 -> builtin:nary:2", "allreduce sizes 1K.. -> builtin:binomial")
    report, _ = report_of(host, 3, program, directory=directory, tmp_path=tmp_path)
    assert algorithms(report, "allreduce", "<= 8 bytes") == {"nary:2"}
    assert algorithms(report, "allreduce", "<= 256 KiB") == {"binomial"}


@pytest.mark.parametrize(("options", "variables", "reached"), [
    ([], {}, False), (["--shared-heap"], {}, True), (["--shared-heap"], {"TUTTI_REACH": "staged"}, False),
], ids=["private memory", "shared heap", "heap not reached"])  # fmt: skip
def test_rules_can_require_that_ranks_reach_each_others_memory(
    host, compiled, plans, tmp_path, options, variables, reached
):
    """Holds on all ranks and on halves, for the map of plans and for a table."""
    program, report = compiled(host, "plans"), tmp_path / "report.json"
    directory = plans(
        "allreduce reached yes -> builtin:binomial",
        "allreduce reached no -> builtin:nary:2",
        "bcast reached yes -> builtin:binary",
        "bcast -> builtin:binomial",
    )
    for asked in (f"--plans={directory}", f"--table={directory / 'map'}"):
        job = support.job(
            host,
            4,
            program,
            "split",
            options=[*options, f"--report={report}", asked],
            variables=variables,
        )
        support.expect_ok(job)
        ran = json.loads(report.read_text())
        assert algorithms(ran, "allreduce") == {"binomial" if reached else "nary:2"}
        assert algorithms(ran, "bcast") == {"binary" if reached else "binomial"}


def test_one_rank_without_the_heap_is_agreed_on(host_named, compiled, plans, tmp_path):
    """One rank cannot make large files, so rules for memory that all ranks reach never match."""
    host, report = host_named("mpich"), tmp_path / "report.json"
    directory = plans(
        "allreduce reached yes -> builtin:binomial", "allreduce reached no -> builtin:nary:2"
    )
    launch = [
        support.TUTTI_RUN,
        "--shared-heap",
        f"--report={report}",
        f"--plans={directory}",
        compiled(host, "plans"),
    ]
    limited = ["sh", "-c", 'ulimit -f 16000; exec "$@"', "limited", *launch]
    command = [host.launcher, "-n", 1, *limited, ":", "-n", 1, *launch]
    result = support.expect_ok(
        support.run(command, environment=support.clean_environment() | host.environment)
    )
    assert "no shared heap" in result.stderr
    assert algorithms(json.loads(report.read_text()), "allreduce") == {"nary:2"}


def test_a_users_variable_overrides_the_map(host, compiled, plans, tmp_path):
    directory = plans("allreduce -> one.tree", one__tree=tree(3, CHAIN[3]))
    report, _ = report_of(
        host,
        3,
        compiled(host, "plans"),
        directory=directory,
        tmp_path=tmp_path,
        variables={"TUTTI_ALGORITHM_ALLREDUCE": "flat"},
    )
    assert algorithms(report, "allreduce") == {"flat"}


@pytest.mark.parametrize(
    "variables",
    [{}, {"TUTTI_WAIT": "spin"}, {"TUTTI_CHECK": "1"}],
    ids=["as it is", "spin", "check"],
)
def test_plans_that_lose_rank_order_serve_the_rest(
    host_named, compiled, plans, tmp_path, variables
):
    """Operations that do not commute use the built-in choice; the program checks all results."""
    host = host_named("openmpi")
    directory = plans("allreduce -> mixed.tree", mixed__tree=tree(3, MIXED[3]))
    report, error = report_of(
        host,
        3,
        compiled(host, "plans"),
        directory=directory,
        tmp_path=tmp_path,
        variables=variables,
    )
    assert (
        "mixed.tree" in algorithms(report, "allreduce") and len(algorithms(report, "allreduce")) > 1
    )
    assert len(report["refused_plans"]) == 1 and "rank order" in report["refused_plans"][0]
    assert len(lines_with(error, "mixed.tree is refused")) == 1, error


def test_the_order_of_arrival(host, compiled, plans, tmp_path):
    directory = plans("allreduce -> any.tree", any__tree=tree(4, "any_order yes\n" + MIXED[4]))
    report, _ = report_of(host, 4, compiled(host, "plans"), directory=directory, tmp_path=tmp_path)
    assert "any.tree (by arrival)" in algorithms(report, "allreduce")


def test_other_rank_counts_are_refused(host, compiled, plans, tmp_path):
    """The plan is for the halves; on all ranks the built-in choice runs, with one message."""
    directory = plans("allreduce -> two.tree", two__tree=tree(2, CHAIN[2]))
    report, error = report_of(
        host, 4, compiled(host, "plans"), "split", directory=directory, tmp_path=tmp_path
    )
    names = algorithms(report, "allreduce", "<= 8 bytes")
    assert "two.tree" in names and len(names) > 1
    assert report["refused_plans"] == [
        f"{directory}/map:2: two.tree is refused: it is for 2 ranks, the communicator has 4"
    ]
    assert (
        len(
            lines_with(
                error,
                "two.tree is refused: it is for 2 ranks, the communicator has 4; the built-in "
                "choice",
            )
        )
        == 1
    )


def test_other_shapes_are_refused(host, compiled, plans, tmp_path):
    shaped = "tutti-tree 1\ncollective allreduce\nranks 2\nshape node:2 core:64\nreduce 0: 1\n"
    directory = plans("allreduce -> shaped.tree", shaped__tree=shaped)
    program = compiled(host, "plans")
    report, error = report_of(host, 2, program, directory=directory, tmp_path=tmp_path)
    assert "shaped.tree" not in algorithms(report, "allreduce")
    assert (
        len(
            lines_with(
                error, "it is for the shape node:2 core:64, the communicator runs on node:1 numa:"
            )
        )
        == 1
    ), error
    report, error = report_of(
        host,
        2,
        program,
        directory=directory,
        tmp_path=tmp_path,
        variables={"TUTTI_TOPOLOGY": "node:2 numa:4 core:16"},
    )
    assert algorithms(report, "allreduce") == {"shaped.tree"} and "refused" not in error


def test_other_roots_are_refused(host, compiled, plans, tmp_path):
    directory = plans(
        "bcast -> down.tree",
        "reduce -> up.tree",
        down__tree="tutti-tree 1\ncollective bcast\nranks 3\nroot 1\nbcast 1: 0 2\n",
        up__tree="tutti-tree 1\ncollective reduce\nranks 3\nroot 2\nreduce 2: 0 1 2\n",
    )
    report, _ = report_of(
        host, 3, compiled(host, "plans"), "roots", directory=directory, tmp_path=tmp_path
    )
    for collective, name in (("bcast", "down.tree"), ("reduce", "up.tree")):
        assert name in algorithms(report, collective) and len(algorithms(report, collective)) > 1
    assert sorted(line.split(": ", 2)[1].split()[0] for line in report["refused_plans"]) == [
        "down.tree",
        "up.tree",
    ]


BROKEN = {
    "no map": ({}, "holds no map"),
    "bad map": ({"map": "tutti-map 1\n\nallreduce => x.tree\n"}, "map:3: unknown word"),
    "no plan": ({"map": "tutti-map 1\nallreduce -> x.tree\n"}, "x.tree: No such file"),
    "bad tree": (
        {"map": "tutti-map 1\nallreduce -> x.tree\n", "x.tree": tree(4, "reduce 0: 1 2")},
        "x.tree:4: rank 3 has no parent",
    ),
    "bad plan": (
        {
            "map": "tutti-map 1\nallreduce -> x.plan\n",
            "x.plan": "tutti-plan 1\ncollective allreduce\nranks 2\nreduce out[0] <- in[0], in[1]\ncopy out[1] <- in[1]\n",
        },
        "x.plan:5",
    ),
    "wrong ranks": (
        {"map": "tutti-map 1\nallreduce ranks 8 -> x.tree\n", "x.tree": tree(4, CHAIN[4])},
        "map:2: x.tree is for 4 ranks, the rule for 8",
    ),
}


@pytest.mark.parametrize("files, reason", BROKEN.values(), ids=BROKEN.keys())
def test_broken_files_stop_the_program_at_init(host, compiled, tmp_path, files, reason):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    result = support.job(host, 3, compiled(host, "plans"), options=["--plans", tmp_path])
    assert result.returncode == 2, f"{result.returncode}\n{result.stdout}\n{result.stderr}"
    assert "ok" not in result.stdout.split()
    said = lines_with(result.stderr, "tutti: ")
    assert len(said) == 1 and reason in said[0] and str(tmp_path) in said[0], result.stderr


def test_a_missing_directory(host, compiled, tmp_path):
    """tutti-run reports it, and so does the program if only the variable is set."""
    program = compiled(host, "plans")
    result = support.job(host, 2, program, options=["--plans", tmp_path / "none"])
    assert result.returncode == 2 and len(lines_with(result.stderr, "tutti-run: --plans ")) == 1, (
        result.stderr
    )
    result = support.job(host, 2, program, variables={"TUTTI_PLANS": str(tmp_path / "none")})
    assert result.returncode == 2, result.stderr
    assert (
        len(
            lines_with(
                result.stderr, "No such file or directory; give a directory with a map and plans"
            )
        )
        == 1
    )


def test_different_files_switch_tutti_off(host, compiled, plans, tmp_path):
    """The variable is the same, but names another directory at each rank."""
    for rank, lists in enumerate((CHAIN[3], MIXED[3], CHAIN[3])):
        place = tmp_path / str(rank)
        place.mkdir()
        (place / "map").write_text("tutti-map 1\nallreduce -> x.tree\n")
        (place / "x.tree").write_text(tree(3, lists))
    script = tmp_path / "in_own_directory"
    script.write_text(
        f'#!/bin/sh\ncd {tmp_path}/${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}\nTUTTI_PLANS=. exec "$@"\n'
    )
    script.chmod(0o755)
    result = support.job(host, 3, script, support.TUTTI_RUN, compiled(host, "plans"), tutti=False)
    support.expect_ok(result)
    assert len(lines_with(result.stderr, "different files of TUTTI_PLANS;")) == 1, result.stderr


def test_a_disabled_library_reads_nothing(host, compiled, tmp_path):
    (tmp_path / "map").write_text("nonsense")
    support.expect_ok(
        support.job(
            host,
            2,
            compiled(host, "plans"),
            options=["--plans", tmp_path],
            variables={"TUTTI_DISABLE": "1"},
        )
    )


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_placement_gives_the_left_fold(host, compiled, plans, tmp_path, ranks):
    """Holds from the first call on, with any map, segment size and way to wait."""
    program = compiled(host, "plans")
    directory = plans("allreduce -> builtin:binomial")
    for more in ({}, {"TUTTI_SEGMENT_BYTES": "512"}, {"TUTTI_SHM_BYTES_PER_RANK": "32K"}):
        report, _ = report_of(
            host,
            ranks,
            program,
            "bits",
            "roots",
            directory=directory,
            tmp_path=tmp_path,
            variables={"TUTTI_REPRODUCIBLE": "placement"} | more,
        )
        assert algorithms(report, "allreduce") <= {"flat", "all_read_all", "tiled"}
        assert report["host_reasons"] == []


def test_runs_repeat_the_order_written(host, compiled, plans, tmp_path):
    """A chain combines from the left; with TUTTI_REPRODUCIBLE=run also a plan in the order of
    arrival.
    """
    directory = plans(
        "allreduce -> any.tree",
        "reduce -> builtin:flat",
        any__tree=tree(4, "any_order yes\nreduce 0: 1 2 3"),
    )
    report, _ = report_of(
        host,
        4,
        compiled(host, "plans"),
        "bits",
        directory=directory,
        tmp_path=tmp_path,
        variables={"TUTTI_REPRODUCIBLE": "run", "TUTTI_SETUP_AFTER": "0"},
    )
    assert "any.tree" in algorithms(report, "allreduce")


def test_placement_reports_calls_for_which_it_does_not_hold(host, compiled):
    """Calls on an intercommunicator stay on the host MPI; one line for both sides says that bits may
    differ.
    """
    program = compiled(host, "plans")
    result = support.expect_ok(
        support.job(
            host, 3, program, "bits", "inter", variables={"TUTTI_REPRODUCIBLE": "placement"}
        )
    )
    said = lines_with(result.stderr, "TUTTI_REPRODUCIBLE=placement does not hold")
    assert len(said) == 1 and "intercommunicator" in said[0], result.stderr
    result = support.expect_ok(
        support.job(host, 3, program, "inter", variables={"TUTTI_REPRODUCIBLE": "run"})
    )
    assert "does not hold" not in result.stderr


def test_placement_refuses_an_algorithm_that_is_no_left_fold(host, compiled):
    result = support.job(
        host,
        2,
        compiled(host, "plans"),
        variables={"TUTTI_REPRODUCIBLE": "placement", "TUTTI_ALGORITHM_REDUCE": "binomial"},
    )
    assert result.returncode == 2, result.stderr
    assert (
        len(lines_with(result.stderr, "TUTTI_ALGORITHM_REDUCE=binomial combines partial results"))
        == 1
    ), result.stderr
