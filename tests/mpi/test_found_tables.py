"""Tables that are found without being named: rank 0 looks, and all ranks have what it finds."""

import json

import pytest
import support
from tutti.bench.mpis import identify
from tutti.places import core

pytestmark = pytest.mark.mpi


@pytest.fixture(params=["mpich", "openmpi"])
def host(request, host_named):
    return host_named(request.param)


def mpi_of(host):
    """As the names of tables have it."""
    done = support.run([host.launcher, "--version"], environment=support.clean_environment())
    family, version = identify(done.stdout)
    return f"{family}-{version.split('.')[0]}"


def table(config, algorithm, mpi=""):
    """Writes a user's table for this machine, and for one MPI if it is named; returns its path."""
    directory = config / "tutti"
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / core().table_names(mpi)[0]
    file.write_text(f"tutti-map 1\n# of this machine\nallreduce -> builtin:{algorithm}\n")
    return file


@pytest.fixture
def run(host, compiled, tmp_path):
    """run(config, option, ...) returns the table of the report, the algorithms of its allreduces,
    and stderr.
    """

    def go(config, *options):
        report = tmp_path / "report.json"
        variables = {"TUTTI_TABLE": "", "XDG_CONFIG_HOME": str(config)}
        result = support.expect_ok(
            support.job(
                host,
                3,
                compiled(host, "plans"),
                "split",
                options=[f"--report={report}", *options],
                variables=variables,
            )
        )
        found = json.loads(report.read_text())
        rows = [one for one in found["collectives"] if one["collective"] == "allreduce"]
        return found["table"], {one["algorithm"] for one in rows}, result.stderr

    return go


def test_the_users_table_is_found_unless_an_option_says_another(run, host, tmp_path):
    file = table(tmp_path / "config", "nary:2")
    assert run(tmp_path / "config") == ({"file": str(file), "found": True}, {"nary:2"}, "")
    of_mpi = table(tmp_path / "config", "binomial", mpi_of(host))
    assert run(tmp_path / "config") == ({"file": str(of_mpi), "found": True}, {"binomial"}, "")
    named = table(tmp_path / "other", "nary:3")
    assert run(tmp_path / "config", f"--table={named}") == (
        {"file": str(named), "found": False},
        {"nary:3"},
        "",
    )
    nothing, algorithms, error = run(tmp_path / "config", "--table=none")
    assert nothing is None and not algorithms & {"nary:2", "binomial", "nary:3"} and error == ""


def test_a_broken_table_is_named_once_and_not_used(run, tmp_path):
    file = table(tmp_path, "unknown")
    found, algorithms, error = run(tmp_path)
    assert found is None and algorithms
    (line,) = [one for one in error.splitlines() if str(file) in one]
    assert f"{file}:3: " in line and "'unknown'" in line and "not used" in line, error


def test_all_ranks_have_the_table_of_rank_0(host, compiled, tmp_path):
    """The others have directories with other tables, or none, as nodes of another kind may."""
    report = tmp_path / "report.json"
    file = table(tmp_path / "0", "nary:2")
    table(tmp_path / "1", "unknown")
    table(tmp_path / "2", "binomial")
    launch = [support.TUTTI_RUN, f"--report={report}", compiled(host, "plans"), "split"]
    command = [host.launcher]
    for rank in range(4):
        separator = [":"] if rank else []
        command += [*separator, "-n", 1, "env", f"XDG_CONFIG_HOME={tmp_path / str(rank)}", *launch]
    environment = support.clean_environment() | host.environment | {"TUTTI_TABLE": ""}
    result = support.expect_ok(support.run(command, environment=environment))
    assert result.stderr == ""
    found = json.loads(report.read_text())
    assert found["table"] == {"file": str(file), "found": True}
    rows = [one["algorithm"] for one in found["collectives"] if one["collective"] == "allreduce"]
    assert set(rows) == {"nary:2"}
