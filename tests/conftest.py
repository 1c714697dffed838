"""How the tests are dealt to the processes that run them side by side (scripts/test.sh)."""

import pytest


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Those on several nodes, which share one set of them, to one process and first, because they take longest; others one by one."""
    from xdist.scheduler import LoadScopeScheduling

    class NodesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "tests/hosts" if nodeid.startswith("tests/hosts/") else nodeid

    return NodesTogether(config, log)
