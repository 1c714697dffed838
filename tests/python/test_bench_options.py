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
