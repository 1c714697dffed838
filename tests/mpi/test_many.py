"""Many ranks on few cores: the results of all collectives, and the memory that Tutti takes beside
the host's own.

Measured with 64 and 128 ranks on two cores, in MiB (private: the mean of a rank over the host
alone; shared: all of the node over the host alone, before long messages and at the end), and the
seconds of the calls, host and Tutti:

    MPICH      64: private -1.3, shared   1 and 121,  2.9 s and  2.7 s
    MPICH     128: private -0.8, shared   3 and 121, 10.7 s and 18.4 s
    Open MPI   64: private  1.7, shared -14 and  90,  1.3 s and  2.0 s
    Open MPI  128: private  1.7, shared -61 and  24,  4.7 s and  9.8 s

Most of the seconds are first calls, for which every rank makes its programs.
"""

import json
from pathlib import Path

import pytest
import support

DEFAULT = Path(__file__).resolve().parents[2] / "src" / "select" / "default.map"

# So many ranks would hold up all other tests.
pytestmark = [pytest.mark.mpi, pytest.mark.alone]


def numbers(result):
    """What the program prints, by name, after the short messages and at the end; memory in KiB."""
    lines = {
        line.split()[0]: line.split()[1:] for line in support.expect_ok(result).stdout.splitlines()
    }
    pairs = {
        when: zip(lines[when][::2], lines[when][1::2], strict=True) for when in ("short", "all")
    }
    return {when: {name: float(text) for name, text in found} for when, found in pairs.items()}


# Each MPI and each number of ranks, but not each pair: a job of 128 takes three times as long.
@pytest.mark.parametrize(("name", "ranks"), [("mpich", 128), ("openmpi", 64)])
def test_every_collective_of_many_ranks(host_named, compiled, tmp_path, name, ranks):
    host, report = host_named(name), tmp_path / "report.json"
    # All ranks run on two cores, so a rank may wait for long.
    words = {
        "timeout": 150,
        "variables": {"TUTTI_STALL_SECONDS": "60", "TUTTI_SETUP_AFTER": "auto"},
    }
    program = compiled(host, "many")
    alone = numbers(support.job(host, ranks, program, tutti=False, **words))
    served = numbers(support.job(host, ranks, program, options=[f"--report={report}"], **words))
    print(f"{host.name}, {ranks} ranks, host alone: {alone}\nwith Tutti: {served}")
    rows = json.loads(report.read_text())["collectives"]
    assert [row for row in rows if row["host_calls"]] == []
    # The report counts a v-collective as the collective that has its rules.
    assert len({row["collective"] for row in rows}) == 11

    def more(when, row):
        return served[when][row] - alone[when][row]

    assert more("all", "private_mean") < 3 * 1024, "a rank's private memory over the host's, KiB"
    assert more("short", "shared") < 32 * 1024, "the node's shared memory before long messages, KiB"
    assert more("all", "shared") < 128 * 1024, "the node's shared memory over the host's, KiB"


def test_the_rules_of_ranks_that_each_have_a_core(host_named, compiled, tmp_path):
    """With these rules alone, whose algorithms ranks without cores of their own never run."""
    host, report, table = host_named("mpich"), tmp_path / "report.json", tmp_path / "cores.map"
    table.write_text(DEFAULT.read_text().replace(" oversubscribed no", ""))
    words = {
        "timeout": 150,
        "variables": {"TUTTI_STALL_SECONDS": "60", "TUTTI_TABLE": str(table)},
    }
    program = compiled(host, "many")
    support.expect_ok(support.job(host, 72, program, options=[f"--report={report}"], **words))
    rows = json.loads(report.read_text())["collectives"]
    ran = {(row["collective"], row["algorithm"]) for row in rows}
    assert {("allreduce", "levels:8:one_stage"), ("reduce", "binary:stepwise")} <= ran
