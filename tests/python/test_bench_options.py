"""The options of `tutti bench` as one value, and which of them were given."""

import inspect
from dataclasses import fields

import pytest
from tutti.bench.command import bench
from tutti.bench.options import Options
from tutti.errors import UserError


def test_the_command_has_these_options():
    """With the same defaults, by which given() finds out what was given."""
    parameters = inspect.signature(bench).parameters.values()
    assert {one.name: one.default for one in parameters} == {
        field.name: field.default for field in fields(Options)
    }


def test_given():
    names = ("--sizes", "--every-root", "--no-dirty", "--per-node", "--mpi", "--json", "--load")
    assert not any(Options(mpi=[]).given(*names).values())
    given = Options(
        sizes="", every_root=True, dirty=False, per_node=0, mpi=["mpich"], json_name="x", load=1
    )
    assert all(given.given(*names).values())


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (Options(repetitions=0), "--repetitions: '0'"),
        (Options(budget_ms=60001), "--budget-ms: '60001'"),
        (Options(words=["-x"]), "'-x' is not understood"),
        (Options(load=-1), "--load: -1"),
        (Options(servers=True), "--servers: it needs --app"),
    ],
)
def test_wrong_options_are_named(options, names):
    Options().check()
    with pytest.raises(UserError, match=names):
        options.check()


def test_quick_needs_less():
    assert (Options().count, Options().milliseconds) == (10, 40)
    assert (Options(quick=True).count, Options(quick=True).milliseconds) == (3, 20)
    assert Options(quick=True, repetitions=7, budget_ms=9).count == 7
