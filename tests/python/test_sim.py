"""`tutti sim`: SimGrid's input, the results made from its output and, with SimGrid, real
simulations.
"""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tutti.errors import UserError
from tutti.places import core, find_library
from tutti.simulation.command import cells_of, parse_roots
from tutti.simulation.jobs import Cell, Run, Settings
from tutti.simulation.machines import MACHINES, OWN, Clusters, Machine, Memory, Network, checked
from tutti.simulation.platform import MESSAGE, cluster_of, hostfile, platform
from tutti.simulation.report import BEST, Results, as_json, notes
from tutti.simulation.variants import TABLES, Variant

SMALL = replace(OWN, nodes=5, cores=2)
simgrid = pytest.mark.skipif(
    shutil.which("smpirun") is None or find_library("tutti-sim.so") is None,
    reason="SimGrid is missing, or Tutti was built without it (apt-get install libsimgrid-dev)",
)


def zone_of(machine: Machine) -> ElementTree.Element:
    zone = ElementTree.fromstring(platform(machine)).find("zone")
    assert zone is not None
    return zone


def way(zone: ElementTree.Element, source: str, target: str) -> list[str]:
    """The links from one node to another, through all switches."""
    routes = {
        (route.get("src"), route.get("dst")): [link.get("id") for link in route]
        for route in zone.iter("route")
    }
    if (source, target) in routes:
        return routes[source, target]
    switches = [router.get("id") for router in zone.iter("router")]
    first = next(name for name in switches if (source, name) in routes)
    last = next(name for name in switches if (name, target) in routes)
    between = [] if first == last else routes[first, last]
    return routes[source, first] + between + routes[last, target]


def test_a_platform_has_links_of_the_machines_figures():
    zone = zone_of(SMALL)
    links = {link.get("id"): link for link in zone.iter("link")}
    assert [(host.get("id"), host.get("core")) for host in zone.iter("host")] == [
        (f"node{n}", "2") for n in range(5)
    ]
    assert way(zone, "node1", "node4") == ["up1", "down4"]
    assert way(zone, "node3", "node3") == ["memory3"]
    assert (links["up1"].get("bandwidth"), links["up1"].get("latency")) == ("3.2e+09Bps", "550ns")
    message = {prop.get("id"): prop.get("value") for prop in links["memory3"].iter("prop")}
    assert message == {MESSAGE: f"{SMALL.memory.gigabytes * 1e9:.6g}"}
    assert all(link.get("id") in links for link in zone.iter("link_ctn"))


def test_clusters_of_nodes_have_a_link_between_each_two():
    machine = replace(SMALL, clusters=Clusters(2, 1000, 0.125))
    zone = zone_of(machine)
    assert [cluster_of(machine, node) for node in range(5)] == [0, 0, 0, 1, 1]
    assert way(zone, "node0", "node2") == ["up0", "down2"]
    assert way(zone, "node0", "node4") == ["up0", "between0-1", "down4"]
    assert way(zone, "node4", "node0") == ["up4", "between1-0", "down0"]


def test_ranks_are_placed_by_block_or_round_robin():
    assert hostfile(SMALL, 5, "block").split() == ["node0", "node0", "node1", "node1", "node2"]
    assert hostfile(SMALL, 7, "round_robin").split() == [
        "node0",
        "node1",
        "node2",
        "node3",
        "node4",
        "node0",
        "node1",
    ]


@pytest.mark.parametrize("machine", MACHINES.values(), ids=str)
def test_the_machines_can_be_simulated(machine):
    assert checked(machine) is machine
    assert len(list(zone_of(machine).iter("route"))) == 3 * machine.nodes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": 0}, "--nodes"), ({"cores": 2000}, "--cores"), ({"nodes": 4096, "cores": 8}, "32768 ranks"),
        ({"clusters": Clusters(6, 1, 1)}, "--clusters"), ({"clusters": Clusters(2, 1, 0)}, "--cluster-bandwidth"),
        ({"network": replace(OWN.network, latency_us=-1)}, "--latency"),
        ({"network": replace(OWN.network, gigabytes=0)}, "--bandwidth"),
    ],
)  # fmt: skip
def test_machines_that_cannot_be_simulated_are_refused(changes, said):
    with pytest.raises(UserError, match=said):
        checked(replace(SMALL, **changes))


def test_rooted_collectives_are_simulated_for_every_root_and_barriers_once():
    cells = cells_of(["barrier", "bcast", "scan"], [8, 64], [0, 3], 4)
    assert cells == [
        Cell("barrier", 0, 0),
        Cell("bcast", 8, 0),
        Cell("bcast", 64, 0),
        Cell("bcast", 8, 3),
        Cell("bcast", 64, 3),
        Cell("scan", 8, 0),
        Cell("scan", 64, 0),
    ]


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_valid(name):
    text = TABLES[name].read_text()
    rules = core().read_map(text, f"{name}.map")["rules"]
    if name == "flat":
        assert {rule["collective"] for rule in rules} == set(core().collectives())
        assert not any(word in text for word in ("hierarchical", "levels"))


def test_users_variables_apply_only_to_tutti(monkeypatch):
    monkeypatch.setenv("TUTTI_ALGORITHM_BCAST", "binomial")
    monkeypatch.setenv("TUTTI_REACH", "auto")
    monkeypatch.setenv("LD_PRELOAD", "/nonexistent.so")
    tutti, flat, host = (
        Variant(key).environment(Path("report.json")) for key in ("tutti", "flat", "ompi")
    )
    assert tutti["TUTTI_ALGORITHM_BCAST"] == "binomial" and tutti["TUTTI_REACH"] == "auto"
    assert (
        "TUTTI_ALGORITHM_BCAST" not in flat
        and flat["TUTTI_REACH"] == "net"
        and flat["TUTTI_TABLE"] == str(TABLES["flat"])
    )
    assert not any(name.startswith("TUTTI_") for name in host)
    assert not any("LD_PRELOAD" in one for one in (tutti, flat, host))


def results_of(times: dict[str, dict[Cell, float]], report=None) -> Results:
    cells = list(next(iter(times.values())))
    settings = Settings(SMALL, 10, "block", cells, [Variant(key) for key in times], 1, 2, 60)
    runs = {key: Run(by_cell, set(cells)) for key, by_cell in times.items()}
    runs["tutti"].report = report or {"off": None, "collectives": [], "host_reasons": []}
    return Results(settings, runs)


def test_ratios_and_their_means():
    short, long = Cell("bcast", 8, 0), Cell("bcast", 1024, 0)
    results = results_of(
        {
            "tutti": {short: 2.0, long: 10.0},
            "ompi": {short: 4.0, long: 20.0},
            "impi": {short: 1.0, long: 90.0},
            "flat": {short: 16.0, long: 20.0},
        }
    )
    assert results.compared == ["ompi", "impi", "flat", BEST]
    assert (results.best(short), results.best(long)) == ("impi", "ompi")
    assert [results.ratio(BEST, cell) for cell in (short, long)] == [0.5, 2.0]
    document = as_json(results)
    assert document["geometric_means"] == pytest.approx(
        {"ompi": 2, "impi": (0.5 * 9) ** 0.5, "flat": 4, BEST: 1}
    )
    assert document["cells"][0]["ratios"] == {"ompi": 2, "impi": 0.5, "flat": 8, BEST: 0.5}
    assert json.loads(json.dumps(document)) == document


def test_cells_that_smpi_cannot_simulate_are_left_out_and_noted():
    short, long = Cell("bcast", 8, 0), Cell("bcast", 1024, 0)
    results = results_of(
        {
            "tutti": {short: 2.0, long: 10.0},
            "ompi": {short: 4.0, long: 20.0},
            "mpich": {short: 8.0, long: 5.0},
        }
    )
    mpich = results.runs["mpich"]
    del mpich.microseconds[long]
    mpich.verified.discard(long)
    mpich.failed[long] = "exit code 0: Deadlock detected"
    assert results.time("mpich", long) is None and results.best(long) == "ompi"
    assert as_json(results)["geometric_means"] == pytest.approx({"ompi": 2, "mpich": 4, BEST: 2})
    assert notes(results) == [
        "MPICH, bcast of 1024 bytes: SMPI failed: exit code 0: Deadlock detected"
    ]


def test_calls_that_tutti_left_to_smpi_are_noted():
    cell = Cell("gatherv", 8, 0)
    row = {"collective": "gatherv", "size": "<= 8 bytes", "host_calls": 40}
    report = {
        "off": None,
        "collectives": [row],
        "host_reasons": [{"reason": "parts of different lengths", "calls": 40}],
    }
    said = notes(results_of({"tutti": {cell: 1.0}}, report))
    assert said == [
        "Tutti left 40 calls of gatherv (<= 8 bytes) to SMPI: parts of different lengths"
    ]


def test_roots_are_all_ranks_or_some():
    assert parse_roots("all", 4) == [0, 1, 2, 3]
    assert parse_roots("3,0,3", 4) == [3, 0]


BAD = [
    (["bcast"], "--machine"),
    (["bcast", "--machine", "juropb"], "juropb"),
    (["bcast", "--nodes", "2"], "--cores"),
    (["bcasts", "--machine", "judge"], "bcasts"),
    (["bcast", "--machine", "judge", "--against", "lam"], "lam"),
    (["bcast", "--machine", "judge", "--ranks", "649"], "649"),
    (["bcast", "--machine", "judge", "--roots", "648"], "648"),
    (["bcast", "--machine", "judge", "--bytes", "7"], "'7'"),
    (["bcast", "--machine", "judge", "--deal", "odd"], "odd"),
    (["bcast", "--machine", "judge", "--no-tutti", "--against", "none"], "--no-tutti"),
    (["bcast", "--machine", "judge", "--operations", "0"], "--operations"),
    (["alltoall", "--machine", "juropa", "--bytes", "1M"], "alltoall"),
    (["bcast", "--machine", "judge", "--json-file", "/nonexistent/file"], "/nonexistent"),
]


@pytest.mark.parametrize(
    ("arguments", "said"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_bad_input_is_one_line(tutti, arguments, said):
    done = tutti("sim", *arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        said in done.stderr and done.stderr.startswith("tutti: ") and done.stderr.count("\n") == 1
    )


def test_the_list_names_every_machine(tutti):
    done = tutti("sim", "--list", "--json")
    listed = json.loads(done.stdout)["machines"]
    assert [machine["name"] for machine in listed] == list(MACHINES)
    assert all(name in tutti("sim", "--list").stdout for name in MACHINES)


def test_without_simgrid_the_error_names_the_package(tutti, tmp_path):
    done = tutti("sim", "barrier", "--machine", "judge", environment={"PATH": str(tmp_path)})
    assert done.returncode == 2 and "libsimgrid-dev" in done.stderr


def simulated(tutti, words: str, environment: dict[str, str] | None = None) -> dict:
    """The document of `tutti sim`; the words are one text."""
    done = tutti("sim", *words.split(), "--json", environment=environment, seconds=280)
    assert done.returncode == 0, done.stderr
    document: dict = json.loads(done.stdout)
    return document


@simgrid
def test_every_collective_is_right_and_served_by_tutti(tutti):
    names = "allreduce,bcast,reduce,barrier,gather,scatter,allgather,alltoall,reduce_scatter_block,scan,exscan"
    words = f"{names} --nodes 3 --cores 2 --bytes 8,24K --roots 0,3 --against flat"
    document = simulated(tutti, words)
    assert document["notes"] == []
    assert (
        all(cell["verified"] for cell in document["cells"])
        and len(document["cells"]) == 8 + 7 * 2 - 1 + 8
    )
    assert all(time > 0 for cell in document["cells"] for time in cell["us"].values())
    for report in document["reports"].values():
        assert sum(row["calls"] for row in report["collectives"]) > 0
        assert sum(row["host_calls"] for row in report["collectives"]) == 0


@simgrid
@pytest.mark.slow
def test_every_collective_is_right_for_every_deal(tutti):
    words = "--nodes 4 --cores 3 --deal round_robin --ranks 11 --bytes 1K --roots 7 --against all"
    document = simulated(tutti, f"all {words}")
    assert all(cell["verified"] for cell in document["cells"])


@simgrid
def test_a_simulation_repeats_to_the_last_digit(tutti):
    words = "allreduce,bcast --nodes 2 --cores 3 --bytes 8,64K --against mpich,ompi,mvapich2,impi"
    one, other = (simulated(tutti, words)["cells"] for _ in range(2))
    assert one == other


@simgrid
def test_a_message_takes_the_time_of_the_machines_figures(tutti):
    """Checks messages of two ranks, up to SMPI's 16 bytes of envelope.

    On a node Tutti sends a long message as several, each at a core's rate.
    """
    network, memory = OWN.network, OWN.memory

    def expected(link: Network | Memory, size: int) -> float:
        # A short message keeps its receiver busy after its arrival; a long one does not.
        busy = link.overhead_us * (2 if size < OWN.eager_bytes else 1)
        return busy + link.latency_us + (size + 16) / link.gigabytes / 1000

    for link, nodes in ((network, "2"), (memory, "1")):
        cores = "1" if nodes == "2" else "2"
        words = f"bcast --nodes {nodes} --cores {cores} --bytes 8,1M --against mpich"
        cells = simulated(tutti, words)["cells"]
        for cell in cells:
            who = "tutti" if link is network or cell["bytes"] == 8 else "mpich"
            assert cell["us"][who] == pytest.approx(expected(link, cell["bytes"]), rel=0.02), cell


@simgrid
def test_the_adapter_and_the_memory_of_a_node_are_shared(tutti):
    def time(words: str) -> float:
        flat = {"TUTTI_ALGORITHM_BCAST": "flat", "TUTTI_ALGORITHM_SCATTER": "flat"}
        (cell,) = simulated(tutti, f"{words} --against none", environment=flat)["cells"]
        return cell["us"]["tutti"]

    # Eight messages of 1 MiB leave one node: they share its link, and take eight times as long as
    # one.
    one = time("scatter --nodes 2 --cores 1 --bytes 1M")
    eight = time("scatter --nodes 9 --cores 1 --bytes 1M")
    assert eight == pytest.approx(8 * one, rel=0.05)
    # Within a node one message gets 4.5 GB/s, seven get 13 together.
    seven = time("bcast --nodes 1 --cores 8 --bytes 1M")
    assert seven == pytest.approx(7 * (1 << 20) / 13e9 * 1e6, rel=0.05)
    # A link between clusters is one more latency.
    near, far = (
        time(f"barrier --nodes 2 --cores 1 {more}")
        for more in ("", "--clusters 2 --cluster-latency 500")
    )
    assert far == pytest.approx(near + 500, rel=0.05)


@simgrid
@pytest.mark.parametrize(
    ("words", "typical", "most"),
    [("--cores 1", 0.01, 0.03), ("--nodes 4 --cores 4", 0.05, 0.1)],
)
def test_the_model_predicts_what_is_simulated(tutti, words, typical, most):
    """Two independent engines with the same figures; several ranks of a node exchange messages. The
    model keeps the gap between receptions, too.
    """
    words = f"barrier,bcast,gather --machine hmpi-xeon {words}"
    words += " --bytes 8,16K --against none --predict"
    found = simulated(tutti, words)["predictions"]
    assert len(found["cells"]) == 5 and found["median_difference"] < typical
    for cell in found["cells"]:
        assert abs(cell["difference"]) < most, cell
    text = tutti("sim", *words.split()).stdout
    assert "predictions beside the simulation of Tutti" in text and "median difference" in text


@simgrid
def test_adapters_take_messages_in_the_order_of_time(tutti):
    """Whichever rank has announced its message first: alltoall of 1 KiB was 39% too long."""
    words = "alltoall --nodes 4 --cores 4 --bytes 1K,16K --against none --predict"
    for cell in simulated(tutti, words)["predictions"]["cells"]:
        assert abs(cell["difference"]) < 0.06, cell


@simgrid
def test_predictions_are_of_the_algorithm_that_the_variables_name(tutti):
    words = "bcast --nodes 4 --cores 2 --bytes 64K --against none --predict"
    chosen = {
        "TUTTI_ALGORITHM_BCAST": "hierarchical+binary+binomial",
        "TUTTI_SEGMENT_BYTES": "5120",
    }
    (cell,) = simulated(tutti, words, environment=chosen)["predictions"]["cells"]
    assert cell["algorithm"] == "hierarchical+binary+binomial segment 5K"
    assert abs(cell["difference"]) < 0.15


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--clusters", "2"), "--predict: the model knows no slow links"),
        (("--no-tutti", "--against", "mpich"), "--predict: it is about Tutti's times"),
    ],
)
def test_what_cannot_be_predicted_is_one_line(tutti, words, said):
    result = tutti("sim", "bcast", "--machine", "hmpi-xeon", *words, "--predict")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1 and said in result.stderr, result.stderr


@simgrid
def test_files_and_plots_are_written(tutti, tmp_path):
    words = "barrier,bcast --nodes 2 --cores 2 --bytes 8,1K --roots 0,1"
    files = f"--files {tmp_path / 'files'} --plot {tmp_path / 'plot.png'}"
    document = simulated(tutti, f"{words} {files}")
    assert {file.name for file in (tmp_path / "files").iterdir()} == {"platform.xml", "hosts"}
    assert (tmp_path / "plot.png").stat().st_size > 1000 and (tmp_path / "plot.svg").is_file()
    assert document["machine"]["nodes"] == 2 and set(document["geometric_means"]) >= {"mpich", BEST}


@simgrid
def test_a_simulation_that_takes_too_long_is_ended(tutti):
    words = "alltoall --machine hmpi-xeon --bytes 64K --seconds 1 --against none"
    done = tutti("sim", *words.split())
    assert done.returncode == 1 and "--seconds" in done.stderr
