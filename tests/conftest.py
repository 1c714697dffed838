"""Distributes the tests to the processes that run them in parallel (scripts/test.sh), and sets the
environment of the jobs that they start.
"""

import os

import pytest
from open_mpi import WITHOUT_LIBFABRIC

for name, value in WITHOUT_LIBFABRIC.items():
    os.environ.setdefault(name, value)


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
