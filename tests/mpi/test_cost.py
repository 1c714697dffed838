"""The cost of calls in instructions. Waiting disturbs the counts, so these tests run alone."""

import re
import shutil

import pytest
import support

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind"),
]


def dumps(host, program, rounds, tmp_path, tutti=True, variables=None, options=""):
    """Callgrind's counts of the functions named counted_* at rank 1 of 2, with Tutti or without.
    `options` are callgrind's.

    Returns its text, and (name, instructions) of each dump that the program requested.
    """
    wrapper, counts = tmp_path / "wrapper", tmp_path / "counts"
    wrapper.write_text(
        '#!/bin/sh\n[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ] || exec "$@"\nexec valgrind -q --tool=callgrind --combine-dumps=yes '
        f"--callgrind-out-file={counts} --toggle-collect='counted_*' {options} \"$@\"\n"
    )
    wrapper.chmod(0o755)
    preloaded = {"LD_PRELOAD": str(host.interposer)} if tutti else {}
    # Neither the watchdog nor the ledger of the tests is counted.
    alone = {"TUTTI_WAIT": "spin", "TUTTI_STALL_SECONDS": "0", "TEST_TUTTI_LEDGER": "0"}
    environment = support.clean_environment() | host.environment | alone | preloaded
    environment |= variables or {}
    support.expect_ok(
        support.run([host.launcher, "-n", 2, wrapper, program, rounds], environment=environment)
    )
    text = counts.read_text()
    found = re.findall(r"Client Request: (\w+)$.*?^totals: (\d+)$", text, re.MULTILINE | re.DOTALL)
    return text, [(name, int(count)) for name, count in found]


def least(parts):
    """The minimum for each name, because waiting only adds instructions."""
    return {name: min(count for one, count in parts if one == name) for name, _ in parts}


def functions_of(text, most=None):
    """The functions of all dumps, or of those with at most so many instructions."""
    names, functions = {}, set()
    for part in re.split(r"^part: ", text, flags=re.MULTILINE)[1:]:
        # The first time that the file mentions a function, its number has its name.
        mentioned = re.findall(r"^c?fn=\((\d+)\)(?: (.+))?$", part, re.MULTILINE)
        names |= {number: name for number, name in mentioned if name}
        if most is None or int(re.search(r"^totals: (\d+)", part, re.MULTILINE)[1]) <= most:
            functions |= {names[number] for number, _ in mentioned}
    return functions


def instructions_of_an_allreduce(host, compiled, tmp_path, libraries):
    """The least of 60 calls at the rank that need not wait, because waiting only adds. The profiler
    dumps each call by itself.
    """
    calls = 60
    text, _ = dumps(
        host,
        compiled(host, "one_late_rank"),
        calls,
        tmp_path,
        variables={"LD_PRELOAD": ":".join(map(str, libraries))},
        options="--dump-after=counted_allreduce",
    )
    counts = [int(count) for count in re.findall(r"^totals: ([1-9]\d*)$", text, re.MULTILINE)]
    assert len(counts) == calls
    print(f"{min(counts)} to {max(counts)} instructions a call")
    return min(counts)


def test_instructions_of_a_short_allreduce(host_named, compiled, tmp_path):
    """An 8-byte allreduce on 2 ranks executes at most 199 instructions at the rank that need not
    wait.

    This is from entry to return, including the calling functions' own 15.
    """
    host = host_named("mpich")
    assert instructions_of_an_allreduce(host, compiled, tmp_path, [host.interposer]) <= 199


@pytest.mark.parametrize("place", ["before", "after"])
def test_instructions_below_a_tool(host_named, compiled, tmp_path, place):
    """Tutti adds none. The tool and its call through the linker's table add 15 at most."""
    host = host_named("mpich")
    tool = support.wrapping_tool(host, "-ldl", name="counting_tool")
    libraries = [tool, host.interposer] if place == "before" else [host.interposer, tool]
    assert instructions_of_an_allreduce(host, compiled, tmp_path, libraries) <= 199 + 15


# Bounds on the instructions of one call with 8 bytes (of a part) on 2 ranks, from entry to return,
# a little above the measured numbers. Names that end in 64 stand for parts of 32 and 96 bytes;
# names with in_place for calls in place.
MOST_INSTRUCTIONS = {
    "barrier": 129,
    "bcast": 219,
    "reduce": 250,
    "allreduce": 204,
    "gather": 320,
    "scatter": 260,
    "allgather": 370,
    "alltoall": 366,
    "reduce_scatter_block": 338,
    "scan": 243,
    "exscan": 229,
    "gatherv": 1020,
    "scatterv": 670,
    "allgatherv": 880,
    "alltoallv": 1080,
    "alltoallw": 1515,
    "reduce_scatter": 870,
    "gatherv_64": 1280,
    "scatterv_64": 835,
    "gatherv_in_place_64": 1220,
    "scatterv_in_place_64": 1035,
    "allgatherv_in_place_64": 1240,
    "persistent_allreduce": 1040,
}


def test_instructions_of_every_collective(host_named, compiled, tmp_path):
    """Takes the minimum of 20 calls of each kind, in one run."""
    host = host_named("mpich")
    _, parts = dumps(host, compiled(host, "costs"), 20, tmp_path)
    found = least(parts)
    print(found)
    assert found.keys() == MOST_INSTRUCTIONS.keys() and len(parts) == 20 * len(found)
    assert {name: count for name, count in found.items() if count > MOST_INSTRUCTIONS[name]} == {}


# The same of calls that the ranks compare (tutti-run --verify). The first two wait for nothing but
# their own lines.
MOST_VERIFIED = {"barrier": 690, "allreduce": 870, "bcast": 1370, "reduce": 1370}


def test_instructions_of_verified_calls(host_named, compiled, tmp_path):
    host = host_named("mpich")
    runs, verifies = [], {"TUTTI_VERIFY": "1"}
    for _ in range(5):  # on a busy machine the early rank may be late; waiting only adds
        text, parts = dumps(host, compiled(host, "costs"), 20, tmp_path, variables=verifies)
        runs += parts
        found = {name: least(runs)[name] for name in MOST_VERIFIED}
        print(found)
        if all(found[name] <= most for name, most in MOST_VERIFIED.items()):
            break
    assert {name: count for name, count in found.items() if count > MOST_VERIFIED[name]} == {}
    assert any("run_verified" in function for function in functions_of(text, most=1000))


# A repeated call must not allocate, lock, search rules or symbols, or make strings.
FORBIDDEN = re.compile(
    r"malloc|calloc|realloc|operator new|mutex_lock|tutti::select::|look_up|basic_string|std::_Rb_tree|dlsym|do_lookup_x"
)


def test_calls_in_a_shuffled_order(host_named, compiled, tmp_path):
    """Calls 18 kinds of short calls on two communicators, in another order each round.

    An 8-byte allreduce of 2 ranks executes at most 230 instructions, and no call repeats the work
    of its first one.
    """
    host = host_named("mpich")
    text, parts = dumps(host, compiled(host, "shuffled"), 20, tmp_path)
    totals = [count for name, count in parts if name.startswith("allreduce")]
    assert len(totals) == 20
    print(f"{min(totals)} to {max(totals)} instructions an allreduce")
    assert sorted(totals)[14] <= 230, totals  # 15 of 20 calls; the others may have waited
    # A call that waits for 100 ms looks after the other ranks, and may allocate then. No other call
    # has more than 3000 instructions.
    waited = [count for _, count in parts if count > 100_000]
    assert len(waited) <= len(parts) // 10, waited
    functions = functions_of(text, most=100_000)
    assert any("run_exchange" in function for function in functions)
    assert sorted(function for function in functions if FORBIDDEN.search(function)) == []


# Bounds for 32 bytes in a type made for the two calls, which the host packs, and for a user's
# operation; for 32 bytes in a type that is kept, and for 256 integers of a face of an array, which
# kernels pack and unpack.
MOST_STRIDED = {
    "bcast": 2600,
    "gather": 2800,
    "reduce": 1150,
    "kept": 930,
    "packed_face": 2300,
    "unpacked_face": 2300,
}


def test_types_with_gaps(host, compiled, tmp_path):
    """Pins an error: a broadcast of such a type searched Open MPI's libraries for symbols, which
    was slow.
    """
    # The hash of a type's handle may meet another handle's, which costs about 20 instructions. So
    # the types have other handles in each run.
    runs = []
    for more in range(5):
        text, parts = dumps(host, compiled(host, "strided"), 20 + more, tmp_path)
        runs += parts
        found = least(runs)
        print(found)
        if all(found[name] <= most for name, most in MOST_STRIDED.items()):
            break
    functions = functions_of(text)
    for name in ("tutti::mpi::pack(", "StridedLayout::gather(", "StridedLayout::scatter("):
        assert any(name in function for function in functions), name
    assert (
        sorted(
            function for function in functions if re.search("dlsym|do_lookup_x|_Rb_tree", function)
        )
        == []
    )
    assert {name: count for name, count in found.items() if count > MOST_STRIDED[name]} == {}


# Bounds for calls that programs/outliving.c names.
MOST_OUTLIVING = {
    "start": 400,
    "wait": 475,
    "persistent_start": 255,
    "persistent_wait": 430,
    "blocks_start": 880,
    "blocks_wait": 660,
    "parts_start": 900,
    "parts_wait": 490,
    "faces": 6100,
    "faces_start": 6500,
}


def test_operations_that_outlive_their_call(host_named, compiled, tmp_path):
    """A call like an earlier one is not described again, also if other kinds come in between."""
    _, parts = dumps(host_named("mpich"), compiled(host_named("mpich"), "outliving"), 20, tmp_path)
    found = least(parts)
    print(found)
    assert set(found) == set(MOST_OUTLIVING)
    assert {name: count for name, count in found.items() if count > MOST_OUTLIVING[name]} == {}


# Millions of instructions that Tutti adds to MPI_Init and MPI_Finalize of one of two ranks, its
# search for tools and the search of the linker for all functions of the host included.
MOST_OF_LIFE = {"start": 1.6, "end": 0.05}


def test_life(host_named, compiled, tmp_path):
    """MPI_Init looks for no GPU's library in the system's directories, and reads no table of rules
    and no file about cores that rank 0 has read.
    """
    host = host_named("mpich")
    program = compiled(host, "start_cost")
    runs, runs_alone = [], []
    for _ in range(5):  # both wait, which only adds instructions
        runs += dumps(host, program, 1, tmp_path)[1]
        runs_alone += dumps(host, program, 1, tmp_path, tutti=False)[1]
        found, alone = least(runs), least(runs_alone)
        assert found.keys() == alone.keys() == MOST_OF_LIFE.keys()
        added = {name: (found[name] - alone[name]) / 1e6 for name in alone}
        print(added)
        over = {name: count for name, count in added.items() if count > MOST_OF_LIFE[name]}
        if not over:
            break
    assert over == {}


def test_setup_beside_dup(host, compiled, tmp_path):
    """The first five collectives of a communicator, with set-up, need at most twice MPI_Comm_dup's
    instructions.

    Both are minima of 30 rounds a run, because waiting only adds instructions.
    """
    program, runs = compiled(host, "setup_cost"), []
    for _ in range(5):  # beside load the ranks of a whole run may wait in each set-up
        runs += dumps(host, program, 30, tmp_path)[1]
        found = least(runs)
        print(found)
        if found["first"] <= 2 * found["dup"]:
            break
    assert found["first"] <= 2 * found["dup"]


# What a communicator adds to the host's instructions if it is not used (with polls of the host's
# progress, because the host may need one more than alone: 450 in MPICH), what its first call takes,
# a non-blocking one, with its completion, and what its end then adds.
MOST_UNUSED = {"mpich": 1750, "mpiabi": 1750, "openmpi": 4500}
MOST_FIRST, MOST_FREE = 10500, 6000


def test_communicators_of_one_nonblocking_call_or_none(host, compiled, tmp_path):
    program = compiled(host, "first_cost")
    runs, runs_alone = [], []
    for _ in range(4):  # the host's own calls wait, which only adds instructions
        runs += dumps(host, program, 20, tmp_path)[1]
        runs_alone += dumps(host, program, 20, tmp_path, tutti=False)[1]
        found, alone = least(runs), least(runs_alone)
        print(found, alone)
        unused = sum(found[name] - alone[name] for name in ("dup_unused", "free_unused"))
        if unused <= MOST_UNUSED[host.abi]:
            break
    assert found.keys() == alone.keys() == {"dup", "dup_unused", "first", "free", "free_unused"}
    assert unused <= MOST_UNUSED[host.abi]
    assert found["first"] <= MOST_FIRST
    assert found["free"] - alone["free"] <= MOST_FREE


# Tutti looks at each call of these: it wakes ranks that sleep (`--idle sleep`), notes peer and tag of
# blocking ones for the roll call, and completes its own requests.
MOST_OF_MESSAGES = {"send": 23, "recv": 16, "isend": 20, "irecv": 10, "wait": 24, "test": 26}


def test_messages(host, compiled, tmp_path):
    """The instructions that Tutti adds to messages of one rank to itself."""
    program = compiled(host, "message_costs")
    found = least(dumps(host, program, 20, tmp_path)[1])
    alone = least(dumps(host, program, 20, tmp_path, tutti=False)[1])
    added = {name: found[name] - alone[name] for name in alone}
    print(added)
    assert {name: count for name, count in added.items() if count > MOST_OF_MESSAGES[name]} == {}
