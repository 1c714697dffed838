"""torch.distributed's backend "tutti" on the nodes that tests/hosts makes (over_nodes.py)."""

import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
HOSTS = HERE.parent / "hosts"
PYTHON = str(HERE.parents[1] / ".torch" / "bin" / "python")
# Another set of nodes than that of tests/hosts, the same for each run.
STATE = f"/run/tutti-hosts-torch-{zlib.crc32(bytes(HERE)):08x}"

pytestmark = [pytest.mark.slow, pytest.mark.alone, pytest.mark.timeout(300)]

Start = Callable[..., str]


@pytest.fixture(scope="module")
def run_over_nodes(
    torch_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Start]:
    """run_over_nodes(CASE, NODES): what all ranks say."""
    environment = {**torch_environment, "HOSTS_STATE": STATE, "GLOO_SOCKET_IFNAME": "net0"}

    def script(name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [HOSTS / name, *words], env=environment, capture_output=True, text=True, timeout=100
        )

    made = script("up", "3")
    if made.returncode == 77:
        pytest.skip(made.stderr.strip())
    assert made.returncode == 0, made.stderr

    def run(case: str, nodes: str) -> str:
        store = tmp_path_factory.mktemp("store") / "store"
        command = [PYTHON, "-W", "ignore", str(HERE / "over_nodes.py")]
        started = [
            subprocess.Popen(
                [HOSTS / "run", f"node{node + 1}", *command, case, store, nodes, str(node)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for node in range(nodes.count("/") + 1)
        ]
        return "".join(one.communicate(timeout=280)[0] for one in started)

    yield run
    script("down")


def passed(told: str, ranks: int) -> None:
    assert all(f"rank {rank} passed" in told for rank in range(ranks)), told


@pytest.mark.parametrize("nodes", ["0,1/2,3", "0/1,2,3", "0/1/2"])
def test_cases(run_over_nodes: Start, nodes: str) -> None:
    passed(run_over_nodes("cases", nodes), 1 + nodes.count(",") + nodes.count("/"))


@pytest.mark.parametrize("nodes", ["0,2/1,3", "0/1/2"])
def test_every_type(run_over_nodes: Start, nodes: str) -> None:
    passed(run_over_nodes("every_type", nodes), 1 + nodes.count(",") + nodes.count("/"))


@pytest.mark.parametrize("case", ["different", "monitored"])
def test_errors(run_over_nodes: Start, case: str) -> None:
    passed(run_over_nodes(case, "0,1/2,3"), 4)


def test_late_rank(run_over_nodes: Start) -> None:
    passed(run_over_nodes("late", "0,1/2,3"), 4)


@pytest.mark.parametrize("case", ["killed_first", "killed_last", "killed_sender"])
@pytest.mark.parametrize("nodes", ["0,1/2,3", "0/1/2"])
def test_killed_rank(run_over_nodes: Start, case: str, nodes: str) -> None:
    told = run_over_nodes(case, nodes)
    ranks = 1 + nodes.count(",") + nodes.count("/")
    assert told.count("passed") == ranks - 1, told
    if case == "killed_last" and nodes == "0,1/2,3":
        assert told.count("rank 3 has ended") == 3, told
