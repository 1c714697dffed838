"""Several nodes on one machine: they are separate, run MPI programs, have the set links, and leave
nothing behind.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from several_nodes import HERE, ROOT, STATE, TUTTI_RUN, environment, on, running, script, wait_for

SCRIPTS = [
    "up",
    "down",
    "run",
    "mpiexec",
    "link",
    "clusters",
    "cut",
    "mend",
    "pingpong",
    "hub",
    "enter",
    "agent",
    "apply",
]
NODES = 3
pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("nodes")]


def python(node, text, **options):
    return on(node, sys.executable, "-c", text, **options)


def test_nodes_are_separate(tmp_path):
    names = [f"node{k}" for k in range(1, NODES + 1)]
    assert [on(name, "uname", "-n").strip() for name in names] == names
    for directory in ("/dev/shm", on("node1", "sh", "-c", "echo $TMPDIR").strip()):
        on("node1", "touch", f"{directory}/of-node1")
        assert on("node1", "ls", directory) == "of-node1\n"
        assert on("node2", "ls", directory) == ""
        assert not Path(directory, "of-node1").exists()
    (tmp_path / "file").write_text("of all\n")
    assert on("node2", "cat", tmp_path / "file") == "of all\n"


def test_processes_of_other_nodes_cannot_be_seen():
    sleep = ["sleep", "1234.5"]

    def seen(node):
        return " ".join(sleep) in on(node, "ps", "-eo", "args")

    sleeper = subprocess.Popen([HERE / "run", "node2", *sleep], env=environment())
    try:
        wait_for(lambda: seen("node2"))
        assert not seen("node1")
    finally:
        sleeper.terminate()
        sleeper.wait(10)
    wait_for(lambda: not seen("node2"))  # the process ends with the script that started it


def test_scripts_print_their_usage():
    for name in SCRIPTS:
        assert name in script(name, "--help").stdout
    for name, words in (
        ("up", ["0"]),
        ("up", ["--own-cores"]),
        ("run", ["node9", "true"]),
        ("cut", ["9"]),
        ("link", ["20"]),
        ("clusters", ["4"]),
        ("link", ["--between", "1", "2", "1ms"]),
        ("mpiexec", ["-n", "0", "true"]),
    ):
        assert len(script(name, *words, code=2).stderr.splitlines()) == 1


def test_without_root_up_is_skipped(tmp_path):
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    result = script("up", 2, code=77, PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert result.stderr == "up: skipped: needs root\n"


def test_an_up_that_fails_says_why_and_leaves_nothing(tmp_path):
    real = shutil.which("ip")
    broken = (
        f'#!/bin/sh\ncase "$*" in *node2*) echo no node2 >&2; exit 1 ;; esac\nexec {real} "$@"\n'
    )
    (tmp_path / "ip").write_text(broken)
    (tmp_path / "ip").chmod(0o755)
    other = str(STATE) + "-other"
    result = script("up", 3, code=2, PATH=f"{tmp_path}:{os.environ['PATH']}", HOSTS_STATE=other)
    assert result.stderr == "up: no node2\n"
    assert not Path(other).exists()
    assert not processes_of(other)


def test_nodes_with_cores_of_their_own():
    other = {"HOSTS_STATE": f"{STATE}-other"}
    cores = os.sched_getaffinity(0)
    try:
        script("up", "--own-cores", 2, **other)
        told = "import os; print(*os.sched_getaffinity(0))"
        owned = [
            {int(core) for core in script("run", f"node{k}", sys.executable, "-c", told, **other)
             .stdout.split()}
            for k in (1, 2)
        ]  # fmt: skip
        assert owned[0] and owned[1] and owned[0] | owned[1] <= cores
        assert not owned[0] & owned[1] and len(owned[0]) == len(cores) // 2
    finally:
        script("down", **other)
    too_many = len(cores) + 1
    result = script("up", "--own-cores", too_many, code=2, **other)
    assert f"{too_many} nodes need {too_many} cores" in result.stderr


def received(node):
    """The number of bytes received on net0."""
    return int(re.search(r"net0:\s*(\d+)", on(node, "cat", "/proc/net/dev")).group(1))


@pytest.mark.mpi
@pytest.mark.parametrize("tutti", [False, True], ids=["host", "tutti"])
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_an_mpi_program_on_two_nodes(compiled, mpi, tutti, tmp_path):
    program, report = compiled(mpi, "nodes"), tmp_path / "report.json"
    prefix = [TUTTI_RUN, f"--report={report}"] if tutti else []
    placement = ["--map", "cyclic"] if tutti else ["--per-node", "2"]
    expected = (
        ["node1", "node2", "node3", "node1"] if tutti else ["node1", "node1", "node2", "node2"]
    )
    before = received("node2")
    result = script("mpiexec", "--mpi", mpi, *placement, "-n", 4, *prefix, program)
    lines = result.stdout.splitlines()
    assert lines == [f"{rank} {node}" for rank, node in enumerate(expected)] + ["ok"], result.stderr
    assert received("node2") - before > 200_000  # at least the longest vector used this network
    if tutti:
        served = json.loads(report.read_text())
        reasons = [row["reason"] for row in served["host_reasons"]]
        assert sum(row["calls"] for row in served["collectives"]) > 0
        assert not any("several nodes" in reason for reason in reasons), reasons


@pytest.mark.mpi
def test_a_job_ends_with_its_launcher(compiled):
    program = compiled("mpich", "endless")
    command = [HERE / "mpiexec", "-n", str(NODES), program, "never"]
    job = subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def count():
        return sum(len(running(f"node{k}", program)) for k in range(1, NODES + 1))

    wait_for(lambda: count() == NODES)
    job.kill()
    job.wait(10)
    wait_for(lambda: count() == 0)


def one_way_us(a, b, *words):
    return float(re.search(r"median ([\d.]+)", script("pingpong", a, b, *words).stdout).group(1))


def test_links_have_the_given_delay(links):
    script("link", "20ms")
    assert 20_000 <= one_way_us("node1", "node2", 10) <= 200_000
    script("link", 0)
    assert one_way_us("node1", "node2", 10) < 20_000


def test_links_have_the_given_rate(links):
    script("link", 0, "100mbit")
    assert 70_000 <= one_way_us("node1", "node2", 1, 1_000_000) <= 1_000_000  # 80 ms, less a burst
    script("link", "1ms", "100mbit")
    assert 70_000 <= one_way_us("node1", "node2", 1, 1_000_000) <= 1_000_000


def test_clusters_are_far_from_each_other(links):
    script("clusters", 2, "20ms", "100mbit")
    assert one_way_us("node1", "node2", 10) < 20_000
    assert 20_000 <= one_way_us("node1", "node3", 5) <= 200_000
    assert 90_000 <= one_way_us("node1", "node3", 1, 1_000_000) <= 1_500_000
    script("link", "--between", 1, 2, "40ms")
    assert 40_000 <= one_way_us("node1", "node3", 5) <= 400_000
    assert "from cluster 2 to 1: 40 ms, no limit" in script("link").stdout


ANSWER = """
import socket
with socket.create_server(("", 7000)) as server:
    print("ready", flush=True)
    while True: server.accept()[0].close()
"""
ASK = 'import socket; socket.create_connection(("node2", 7000), 1)'


@pytest.mark.parametrize("delay", ["0", "1ms"], ids=["bridge", "switch"])
def test_a_cut_node_is_unreachable_until_it_is_mended(links, delay):
    script("link", delay)
    command = [HERE / "run", "node2", sys.executable, "-c", ANSWER]
    server = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout.readline() == "ready\n"
        python("node1", ASK)
        script("cut", 2)
        result = script("run", "node1", sys.executable, "-c", ASK, code=1)
        assert re.search("timed out|No route to host", result.stderr)
        script("mend", 2)
        python("node1", ASK.replace(", 1)", ", 20)"))
    finally:
        script("mend", 2)
        server.terminate()
        server.communicate(timeout=100)


def processes_of(state):
    """The ids of the processes that belong to a set of nodes or were started on one."""
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = environment.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"HOSTS_STATE={state}".encode() in words and environment.parent.name != str(os.getpid()):
            found.append(environment.parent.name)
    return found


def devices_and_mounts():
    return sorted(os.listdir("/sys/class/net")), Path("/proc/self/mounts").read_text()


@pytest.mark.parametrize("killed_after", [None, 0.05, 0.15, 0.25])
def test_nothing_remains(killed_after):
    state = STATE.with_name(STATE.name + "-other")  # the other set continues to exist
    environment = os.environ | {"HOSTS_STATE": str(state)}
    before = devices_and_mounts()
    up = subprocess.Popen(
        [HERE / "up", "3"], env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        if killed_after is None:
            assert up.wait(60) == 0
            script("link", "1ms", HOSTS_STATE=str(state))
            assert len(processes_of(state)) > 6
        else:
            time.sleep(killed_after)
            up.kill()
            up.wait(10)
    finally:
        script("down", HOSTS_STATE=str(state))
    assert not state.exists()
    wait_for(lambda: not processes_of(state))
    assert devices_and_mounts() == before
    assert on("node1", "uname", "-n") == "node1\n"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="no shellcheck here")
def test_shellcheck_finds_nothing():
    shell = [HERE / name for name in SCRIPTS if name != "pingpong"]
    result = subprocess.run(
        ["shellcheck", "-x", "-P", "SCRIPTDIR", *shell, *HERE.glob("*.sh")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_the_network_between_two_named_hosts(links, tmp_path, mpi):
    """`tutti model measure --hosts` as on a cluster, whose launchers reach its hosts by the agent."""
    if not (ROOT / ".mpi" / mpi / "bin" / "mpiexec").exists():
        pytest.skip(f"no {mpi} here")
    machine = tmp_path / "machine.json"
    level = {"name": "node", "hand_over": 60, "byte": 0.1, "shared": 0.1}
    own = {"call": 0, "step": 0, "copy": 0, "combine": 0}
    machine.write_text(
        json.dumps({"format": "tutti-machine 1", "name": "a test", "levels": [level], "own": own})
    )
    reaching = {
        "mpich": {
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": str(HERE / "agent"),
            "HYDRA_IFACE": "net0",
            "MPIR_CVAR_CH4_NETMOD": "ofi",
            "FI_PROVIDER": "tcp",
            "FI_TCP_IFACE": "net0",
            "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
        },
        "openmpi": {
            "PRTE_MCA_plm": "ssh",
            "PRTE_MCA_plm_ssh_agent": str(HERE / "agent"),
            "PRTE_MCA_prte_if_include": "net0",
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "^ofi,uct,openib,usnic",
            "OMPI_MCA_btl_tcp_if_include": "net0",
            "OMPI_MCA_mpi_yield_when_idle": "1",
        },
    }
    script("link", "1ms")
    words = ("model", "measure", "--network", "--mpi", mpi, "--hosts", "node1,node2", "--json")
    tutti = (sys.executable, "-m", "tutti.cli")
    text = on("front", *tutti, *words, "--machine", machine, **reaching[mpi])
    found = json.loads(text)
    assert "between node1 and node2" in found["source"]
    # All nodes have one first core, to which both ranks are bound, so only the least is exact.
    between, within = (
        found[kind]["latency"] + 2 * found[kind]["overhead"] for kind in ("network", "messages")
    )
    assert between >= 1e6 and within > 0
    assert found["network"]["mpi"] == mpi
