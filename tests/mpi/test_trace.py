"""Traces of real programs: their records are consistent, and their cost is bounded."""

import os
import re
import shutil

import numpy as np
import pytest
import support
from support import expect_ok, job
from tutti.tracing import read
from tutti.tracing.flows import flows
from tutti.tracing.summary import summary

pytestmark = pytest.mark.mpi

ROUNDS = 20  # as programs/traced.c
LENGTHS = 3
COLLECTIVES = 4


def traced(host, compiled, directory, ranks, *, program="traced", arguments=(), variables=None):
    file = directory / "run.trace"
    result = expect_ok(
        job(
            host,
            ranks,
            compiled(host, program),
            *arguments,
            options=["--trace", file],
            variables=variables,
        )
    )
    assert [path.name for path in directory.iterdir()] == ["run.trace"]
    return read(file), result


def recorded_steps(trace, operation):
    first, count = (int(trace.operations[name][operation]) for name in ("first_step", "step_count"))
    part = slice(first, first + count)
    return [
        (int(index), int(segment))
        for index, segment, kind in zip(
            *(trace.steps[name][part] for name in ("index", "segment", "kind")), strict=True
        )
        if kind < 0xFB
    ]


def expected_steps(trace, operation):
    """(steps that may be recorded, steps that must be).

    Waits for a ring position occur only after the ring has wrapped around. Empty blocks are not
    moved. Whether a rank reads another's buffer directly depends on where the buffer is.
    """
    program = trace.programs[int(trace.operations["program"][operation])]
    segments, positions = (
        int(trace.operations[name][operation]) for name in ("segments", "positions")
    )
    possible, certain = set(), set()
    for index, step in enumerate(program.steps):
        if trace.kinds[step.kind].name == "wait_return":
            possible.add((index, segments - 1))
            continue
        for segment in range(segments):
            distance = {"wait_reuse": positions, "wait_before": 1}.get(trace.kinds[step.kind].name)
            if distance is not None:
                if segment >= distance:
                    possible.add((index, segment))
                    certain.add((index, segment))
                continue
            possible.add((index, segment))
            if not step.operands or program.blocks == 1:
                certain.add((index, segment))
    return possible, certain


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_trace_is_consistent(host, compiled, tmp_path, ranks):
    trace, _ = traced(host, compiled, tmp_path, ranks)
    get, steps = trace.operations, trace.steps
    assert len(trace.ranks) == ranks and len(trace.nodes) == 1 and trace.mpi == host.abi
    assert sum(rank.lost for rank in trace.ranks) == 0 and get["whole"].all()
    world = [
        number
        for number, members in enumerate(trace.communicators)
        if members == list(range(ranks))
    ]
    threads = len(np.unique(get["track"])) == 2 * ranks
    assert len(world) == (3 if threads else 1)

    # The operations on MPI_COMM_WORLD: all but the first, which the host served during set-up, and
    # the last barrier.
    first = get["communicator"] == world[0]
    for rank in range(ranks):
        mine = first & (get["rank"] == rank)
        assert mine.sum() == LENGTHS * ROUNDS * COLLECTIVES - 1 + 1
        assert sorted(get["epoch"][mine]) == list(range(int(mine.sum())))
    reasons = {trace.reasons[reason] for reason in get["reason"][get["host"]]}
    assert any("TUTTI_SETUP_AFTER" in reason for reason in reasons)

    # Every rank has recorded every operation, with the same label.
    for meeting in trace.meetings:
        assert sorted(get["rank"][meeting]) == sorted(
            trace.communicators[int(get["communicator"][meeting[0]])]
        )
        for name in ("bytes", "root", "segments", "collective"):
            assert len(set(get[name][meeting].tolist())) == 1, name

    # Every step is recorded, in the order of execution; the reader refuses times that are not
    # ordered.
    for operation in np.flatnonzero(~get["host"]):
        found = recorded_steps(trace, operation)
        possible, certain = expected_steps(trace, operation)
        assert len(found) == len(set(found)) and certain <= set(found) <= possible, trace.label(
            int(operation)
        )
    sums = np.bincount(
        steps["operation"], weights=steps["end"] - steps["begin"], minlength=len(get["begin"])
    )
    assert (sums <= (get["end"] - get["begin"]) + 1).all()  # nanoseconds as floats
    assert (steps["peer"] >= 0).any() and steps["bytes"].max() > 1000

    # A wait ends after the step that ended it began; all ranks use one clock.
    told, waited = flows(trace)
    waits = (trace.group_of[steps["kind"]] == 0) & (trace.step_peer >= 0)
    assert len(told) == waits.sum() > 0
    assert (steps["begin"][told] <= steps["end"][waited]).all()
    assert summary(trace)["arrival_skew"]["operations"] == len(trace.meetings)


def by_records(trace):
    """The operations that outlive their call."""
    served = np.array([program.algorithm == "records" for program in trace.programs] + [False])
    return served[trace.operations["program"]]


COMPLETIONS = (
    6 * 17 * 7 + 5 * 7
)  # the lengths, collectives and rounds of programs/persistent.c, and its special shapes


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_round_of_a_persistent_collective_is_there(host, compiled, tmp_path, ranks):
    trace, _ = traced(host, compiled, tmp_path, ranks, program="persistent", arguments=["results"])
    get, steps = trace.operations, trace.steps
    chosen = by_records(trace)
    assert chosen.sum() == ranks * COMPLETIONS
    assert {trace.collectives[number] for number in get["collective"][chosen]} == set(
        trace.collectives
    )
    for meeting in trace.meetings:
        assert sorted(get["rank"][meeting]) == list(range(ranks))
        for name in ("root", "collective"):
            assert len(set(get[name][meeting].tolist())) == 1, name
    awaited = 0
    for operation in np.flatnonzero(chosen):
        program = trace.programs[int(get["program"][operation])]
        assert recorded_steps(trace, operation) == [
            (index, 0) for index in range(len(program.steps))
        ]
        awaited += sum(trace.group_of[step.kind] == 0 for step in program.steps)
    told, waited = flows(trace)
    waits = chosen[steps["operation"]] & (trace.group_of[steps["kind"]] == 0)
    assert waits.sum() == awaited == chosen[steps["operation"][waited]].sum() > COMPLETIONS
    assert (steps["begin"][told] <= steps["end"][waited]).all()


def test_who_a_persistent_collective_waits_for(host, compiled, tmp_path):
    """The time between start and completion does not count as waiting."""
    trace, _ = traced(host, compiled, tmp_path, 2, program="persistent_late")
    get, steps = trace.operations, trace.steps
    chosen = by_records(trace)
    first = chosen & (get["rank"] == 0)
    assert first.sum() == 6 and (trace.elsewhere[first] >= 10e6).all()
    waits = chosen[steps["operation"]] & (trace.step_peer >= 0)
    for rank, least in ((0, 5e6), (1, 0)):
        mine = waits & (get["rank"][steps["operation"]] == rank)
        assert (trace.step_peer[mine] == 1 - rank).all() and mine.sum() == 6
        assert np.median((steps["end"] - steps["begin"])[mine]) >= least
    found = next(row for row in summary(trace)["collectives"] if row["by"] == "records")
    assert (found["collective"], found["size"], found["operations"]) == ("allreduce", "<= 8 B", 6)
    assert found["between_us"] > 5e3


@pytest.mark.parametrize("ranks", [2, 3])
def test_short_parts_have_the_names_of_their_collectives(host, compiled, tmp_path, ranks):
    """A gather of short parts runs an allgather's program, so its records have no root."""
    trace, _ = traced(host, compiled, tmp_path, ranks, program="short_parts")
    get = trace.operations
    named = {
        name: ~get["host"]
        & (get["collective"] == trace.collectives.index(name))
        & (get["bytes"] == 8 * ranks)
        for name in ("gather", "scatter", "allgather", "alltoall")
    }
    # A call whose longest part was longer than expected has one more operation.
    for name, chosen in named.items():
        assert 10 * ranks <= chosen.sum() <= 12 * ranks, name
        assert (get["root"][chosen] == (ranks - 1 if name in ("gather", "scatter") else 0)).all()
        assert {trace.label(int(operation)) for operation in np.flatnonzero(chosen)} == {
            f"{name} of {8 * ranks} bytes a part by direct"
        }
    assert named["allgather"].sum() == 10 * ranks


def test_clocks_of_two_nodes(host_named, compiled, tmp_path):
    """MPICH takes the ranks for two nodes, but they read one clock, so the offset must be 0 within
    its error.
    """
    host = host_named("mpich")
    trace, _ = traced(host, compiled, tmp_path, 4, variables={"MPIR_CVAR_NUM_CLIQUES": "2"})
    assert len(trace.nodes) == 2 and trace.nodes[0].error == 0
    assert sorted(rank.node for rank in trace.ranks) == [0, 0, 1, 1]
    own, other = trace.nodes
    assert 0 < other.error < 50e6
    for anchor in other.anchors:
        truth = float(own.nanoseconds(np.array([anchor.ticks], dtype=np.uint64))[0])
        assert abs(anchor.nanoseconds - truth) <= anchor.error + 1
    assert "off" not in summary(trace)["collectives"][0]["by"]


def test_records_that_the_ring_cannot_hold_are_counted(host, compiled, tmp_path):
    trace, _ = traced(host, compiled, tmp_path, 2, variables={"TUTTI_TRACE_BYTES": "32K"})
    assert all(rank.lost > 0 for rank in trace.ranks)
    assert 0 < len(trace.steps["kind"]) < 2 * 2 * 1024
    assert summary(trace)["lost_records"] == sum(rank.lost for rank in trace.ranks)


def test_more_ranks_than_cores_and_arrivals(host, compiled, tmp_path):
    """Waiting by yields and sleep is recorded too."""
    trace, _ = traced(host, compiled, tmp_path, 3, variables={"TUTTI_WAIT": "yield"})
    assert len(trace.meetings) > 0


@pytest.mark.parametrize("name", ["missing/run.trace", "."])
def test_a_file_that_cannot_be_written(host, compiled, tmp_path, name):
    result = job(host, 2, compiled(host, "traced"), options=["--trace", tmp_path / name])
    assert result.returncode != 0 and "ok" not in result.stdout.split()
    said = [
        line for line in result.stderr.splitlines() if "tutti" in line and "TUTTI_TRACE" in line
    ]
    assert len(said) == 1 and "cannot write the trace" in said[0], result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_killed_rank_leaves_no_file(host, compiled, tmp_path):
    result = job(host, 2, compiled(host, "killed"), options=["--trace", tmp_path / "run.trace"])
    assert result.returncode != 0
    assert list(tmp_path.iterdir()) == []


def test_no_rank_waits_for_a_dead_one(host_named, compiled, tmp_path):
    """Rank 0 waited for ever, where the launcher lets the other ranks go on."""
    host = host_named("mpich")
    command = [host.launcher, "-disable-auto-cleanup", "-n", 3, support.TUTTI_RUN, "--trace"]
    command += [tmp_path / "run.trace", compiled(host, "aborted"), "exit", 1]
    said = support.run(command, environment=support.clean_environment() | host.environment)
    assert "rank 1 has ended; there is no trace of this job" in said.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_older_file_stays_until_the_new_one_is_complete(host_named, compiled, tmp_path):
    host = host_named("mpich")
    (tmp_path / "run.trace").write_text("older")
    job(host, 2, compiled(host, "killed"), options=["--trace", tmp_path / "run.trace"])
    assert (tmp_path / "run.trace").read_text() == "older"
    trace, _ = traced(host, compiled, tmp_path, 2)
    assert len(trace.meetings) > 0


def test_options_of_the_launcher(tmp_path):
    for arguments in (["--trace"], ["--trace="], ["--trace", ""]):
        result = support.run(
            [support.TUTTI_RUN, *arguments], environment=support.clean_environment()
        )
        assert result.returncode == 2 and "--trace needs the name of a file" in result.stderr
    result = support.run(
        [support.TUTTI_RUN, "--mpi", "mpich", "--trace=a.trace", "bash", "-c", "echo $TUTTI_TRACE"],
        environment=support.clean_environment(),
        cwd=tmp_path,
    )
    assert result.stdout == f"{tmp_path}/a.trace\n", result.stderr


CALLS = 60
# Functions in which a rank waits. Their instructions depend on when the other rank arrives.
WAITING = re.compile(
    r"wait_for|[wW]aiter|ValueWait|PeerWatch|libmpi|libc\.|ld-linux|libm\.|chrono|progress|\?\?\?"
)


def count(profile):
    """Instructions of one call, without waiting and the host: (all, those in the sources of
    traces).
    """
    listed = support.run(["callgrind_annotate", "--auto=no", "--threshold=100", profile]).stdout
    total = ours = 0
    for line in listed.splitlines():
        found = re.match(r"\s*([\d,]+) \(\s*[\d.]+%\)\s+(\S.*)", line)
        if not found or "PROGRAM TOTALS" in line or WAITING.search(line):
            continue
        instructions = int(found[1].replace(",", ""))
        total += instructions
        ours += instructions if "src/trace/" in found[2] else 0
    assert total > 100, listed
    return total, ours


def instructions(host, program, directory, variables):
    """The counts of an 8-byte allreduce that waits little.

    The profiler writes a file for each call. Waiting only adds instructions, also some outside the
    functions of waits, so the calls with the fewest have waited least.
    """
    directory.mkdir()
    wrapper = directory / "wrapper"
    profile = directory / "profile"
    counted = "counted_allreduce"
    wrapper.write_text(
        f"#!/bin/sh\nexec valgrind --tool=callgrind --callgrind-out-file={profile}.$PMI_RANK "
        f'--toggle-collect={counted} --dump-after={counted} --log-file="$0.$PMI_RANK" "$@"\n'
    )
    wrapper.chmod(0o755)
    environment = support.clean_environment() | host.environment | {
        "LD_PRELOAD": str(host.interposer), "TUTTI_WAIT": "spin", **variables}  # fmt: skip
    expect_ok(
        support.run([host.launcher, "-n", 2, wrapper, program, CALLS], environment=environment)
    )
    totals = {}
    for file in directory.glob("profile.1.*"):
        found = re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE)
        if found and int(found[1]) > 0:
            totals[file] = int(found[1])
    assert len(totals) >= CALLS, sorted(directory.iterdir())
    return min(count(file) for file in sorted(totals, key=totals.__getitem__)[:5])


@pytest.mark.slow
@pytest.mark.alone  # on a busy machine the early rank is seldom early
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs 2 cores")
def test_instructions(host_named, compiled, tmp_path):
    """Without tracing a call executes none of its code; with tracing at most 60 instructions for
    each step.

    These include the instructions for the operation. For the comparison the executor's loop runs
    in both jobs, because the default for two ranks has a shorter path.
    """
    host = host_named("mpich")
    program = compiled(host, "one_late_rank")
    default, default_ours = instructions(host, program, tmp_path / "default", {})
    file = tmp_path / "run.trace"
    by_loop = {"TUTTI_ALGORITHM_ALLREDUCE": "flat"}
    off, off_ours = instructions(host, program, tmp_path / "off", by_loop)
    on, on_ours = instructions(host, program, tmp_path / "on", {"TUTTI_TRACE": str(file)} | by_loop)
    trace = read(file)
    mine = (
        (trace.operations["rank"] == 1)
        & (trace.operations["bytes"] == 8)
        & ~trace.operations["host"]
    )
    steps = float(np.median(trace.operations["step_count"][mine]))
    print(f"default {default:.1f} instructions a call; by the loop off {off:.1f}, on {on:.1f}: "
          f"{(on - off) / steps:.1f} a step of {steps:.0f}")  # fmt: skip
    assert default_ours == 0 and off_ours == 0 and default <= 205
    assert on_ours > 0 and (on - off) / steps <= 60
