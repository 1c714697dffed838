"""The options of `tutti bench` as one value, and which of them were given."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from tutti.bench import measurements
from tutti.bench.command import KINDS
from tutti.bench.options import Options
from tutti.errors import UserError
from tutti.places import core
from tutti.plan.command.files import COLLECTIVES_HELP

ROOT = Path(__file__).resolve().parents[2]


def test_every_option_is_of_some_subcommand():
    taken = {name for kind in KINDS.values() for name in kind.fields}
    assert taken == {field.name for kind in KINDS.values() for field in fields(kind.options)}


def test_subcommands_have_no_options_of_others(tutti):
    calls, array = (tutti("bench", name, "--help").stdout for name in ("calls", "array"))
    assert "--every-root" in calls and "--every-root" not in array
    assert "--json-file" in calls and "--json-file" in array


def test_given():
    names = ("--bytes", "--every-root", "--no-dirty", "--per-node", "--mpi", "--json", "--load")
    assert not Options(mpi=[]).given(*names)
    given = Options(
        bytes="", every_root=True, dirty=False, per_node=0, mpi=["mpich"], as_json=True, load=1
    )
    assert given.given(*names) == list(names)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"repetitions": 0}, "--repetitions: '0'"),
        ({"budget_ms": 60001}, "--budget-ms: '60001'"),
        ({"load": -1}, "--load: '-1'"),
    ],
)
def test_wrong_options_are_named(options, names):
    with pytest.raises(UserError, match=names):
        Options(**options)


def test_quick_needs_less():
    assert (Options().count, Options().milliseconds) == (10, 40)
    assert (Options(quick=True).count, Options(quick=True).milliseconds) == (3, 20)
    assert Options(quick=True, repetitions=7, budget_ms=9).count == 7


def test_collectives_are_those_of_the_program():
    """Python's lists say what the rows of the program's table say."""
    table = re.sub(r"/\*.*?\*/|\s", "", (ROOT / "bench/collectives.inc.h").read_text(), flags=re.S)
    rows = [row.split(",") for row in re.findall(r"BENCH_COLLECTIVE\((.*?)\)", table)]
    shapes = {row[1]: {word.removesuffix("=true") for word in row[3:]} for row in rows}
    assert tuple(shapes) == measurements.COLLECTIVES
    assert {name for name in shapes if ".rooted" in shapes[name]} == set(measurements.ROOTED)
    assert {name for name in shapes if ".uneven" in shapes[name]} == set(measurements.UNEVEN)
    parted = {name for name in shapes if {".each_in", ".each_out"} & shapes[name]}
    assert parted == set(shapes) - set(measurements.VECTORS)


def test_help_names_the_collectives_that_have_plans():
    assert re.split(", | or ", COLLECTIVES_HELP) == core().collectives()


REFUSED = [
    ("nodes", "--hosts: give the directory"),
    ("worth", "--hosts: give the directory"),
    ("overlap --nodes 2", "--nodes: it needs --hosts"),
    ("calls --lengths equal", "No such option: --lengths"),
    ("nodes --hosts tests/hosts --lengths equal,long", "--lengths: 'long' is"),
    ("nodes --hosts /none", "--hosts: there is no program '/none/up'"),
    ("nodes --hosts tests/hosts --nodes 1", "--nodes: '1'"),
    ("nodes --hosts tests/hosts --per-node 0", "--per-node: '0'"),
    ("nodes --hosts tests/hosts --delay fast", "--delay: 'fast'"),
    ("worth --hosts tests/hosts --per-node 1", "give --per-node 2"),
    ("worth --hosts tests/hosts --delay 0,1ms", "--delay: give one"),
    ("worth --hosts tests/hosts --plot x", "--plot"),
    ("worth --hosts tests/hosts --every-root", "--every-root"),
    ("nodes --hosts tests/hosts --ranks 4", "--ranks"),
    ("nodes --hosts tests/hosts --bind core", "--bind"),
    ("nodes --hosts tests/hosts --peer-settings best", "--peer-settings"),
    ("nodes --hosts tests/hosts --shared-heap", "--shared-heap"),
    ("one-sided --nodes 2", "--nodes: it needs --hosts"),
    ("saturation --per-node 2", "--per-node: it needs --hosts"),
    ("one-sided --hosts tests/hosts --nodes 3", "--nodes: '3' is not accepted"),
    ("one-sided --hosts tests/hosts --per-node 0", "--per-node: '0'"),
    ("one-sided --hosts tests/hosts --delay fast", "--delay: 'fast'"),
    ("one-sided --hosts tests/hosts --bytes 7", "--bytes: '7'"),
    ("one-sided --hosts tests/hosts --plot x", "No such option: --plot"),
    ("one-sided --hosts tests/hosts --ranks 2", "No such option: --ranks"),
    ("one-sided --hosts /none", "--hosts: there is no program '/none/up'"),
    ("alltoall --hosts tests/hosts", "No such option: --hosts"),
    ("saturation --hosts tests/hosts --delay 0,1ms", "--delay: a saturation"),
    ("saturation --hosts tests/hosts --bytes 8", "No such option: --bytes"),
    ("saturation --hosts tests/hosts --servers 1,0", "--servers: '0' is"),
    ("saturation --servers 2", "--servers: it needs --hosts"),
    ("one-sided --servers", "No such option: --servers"),
    ("forms --form blocking", "--form: 'blocking'"),
    ("forms --every-root", "No such option: --every-root"),
    ("forms --hosts x", "No such option: --hosts"),
    ("overlap --mixed", "No such option: --mixed"),
    ("forms --compute 3", "No such option: --compute"),
    ("overlap --compute 0", "--compute: '0'"),
    ("overlap --faces 4", "--faces: it needs --halo"),
    ("halo --faces 8", "--faces: '8'"),
    ("halo --form all", "No such option: --form"),
    ("halo --bytes 8", "No such option: --bytes"),
    ("overlap --halo", "--halo: it needs --hosts"),
    ("overlap --halo --hosts x --bytes 8", "--bytes: --halo exchanges"),
    ("overlap --hosts tests/hosts --ranks 2", "--ranks: --hosts has its own"),
    ("halo --hosts tests/hosts", "No such option: --hosts"),
    ("mixed --no-dirty", "--no-dirty"),
    ("calls --kinds bcast:8 --bytes 8", "--kinds"),
    ("mixed --every-root", "--every-root"),
    ("calls --kinds bcast:8 --every-root", "--every-root"),
    ("calls --cold 4M --plot x.png", "--plot"),
    ("calls --every-root --collectives allreduce,barrier", "none of allreduce, barrier has a root"),
    ("calls --every-root --openmp", "--openmp"),
    ("apps matvec --halo", "No such option: --halo"),
    ("apps matvec --bytes 8", "No such option: --bytes"),
    ("apps other", "'other' is unknown"),
    ("apps matvek", "'matvek' is unknown; did you mean matvec? known are"),
    ("apps matvec --nodes 2", "--nodes: it needs --hosts"),
    ("apps fft --servers", "--servers: it needs --hosts"),
    ("apps matvec --servers --hosts x", "matvec has no overlapped form"),
]
REFUSED_WITH_MPI = [
    ("lives --mpi none", "--mpi: there is no 'none'; found are "),
    ("lives --json-file /nowhere/lives.json", "--json-file: there is no directory"),
    ("lives --calls x", "--calls: 'x' is not a number of calls"),
    ("lives --rounds 0", "--rounds: '0' is not accepted"),
    ("lives --ranks 2,4", "--ranks: '2,4' is not accepted; one number is"),
    ("waits --work -1", "--work: '-1' is not accepted"),
    ("waits --ranks 1", "--ranks: '1' is not accepted; 2 or more are"),
    ("waits --ranks 2,4", "--ranks: '2,4' is not accepted; one number is"),
]
REFUSED += [pytest.param(*row, marks=pytest.mark.mpi) for row in REFUSED_WITH_MPI]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_bad_options_are_refused_with_one_line(tutti, words, said):
    done = tutti("bench", *words.split())
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1 and said in done.stderr
