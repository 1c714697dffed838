"""Distributes the tests to the processes that run them in parallel (scripts/test.sh), and sets the
environment of the jobs that they start.
"""

import os
from pathlib import Path

import pytest
from open_mpi import OWN_SESSIONS, WITHOUT_LIBFABRIC

# Each job fails at its end if Tutti leaves a handle of the host's, a descriptor, a mapping or a
# thread (src/mpi/abi/ledger.h).
os.environ.setdefault("TEST_TUTTI_LEDGER", "1")
for name, value in WITHOUT_LIBFABRIC.items():
    os.environ.setdefault(name, value)
os.environ.update(OWN_SESSIONS)

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("TEST_TUTTI_BUILD", ROOT / "build"))
RESTING_YIELDS = BUILD / "tests" / "libresting_yields.so"


def pytest_configure():
    """Lets jobs start with a sched_yield that rests now and then (resting_yields.c says why)."""
    preloaded = os.environ.get("LD_PRELOAD", "").split(":")
    if RESTING_YIELDS.exists() and str(RESTING_YIELDS) not in preloaded:
        os.environ["LD_PRELOAD"] = ":".join([str(RESTING_YIELDS), *filter(None, preloaded)])


def pytest_collection_modifyitems(items):
    """Tests marked long come first, so that none of them is still running after all others."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests on several nodes run first, in one process, because they share nodes and take longest.

    Other tests are distributed one by one.
    """
    from xdist.scheduler import LoadScopeScheduling

    class NodesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "tests/hosts" if nodeid.startswith("tests/hosts/") else nodeid

    return NodesTogether(config, log)
