"""Writes a machine for SimGrid: its platform as XML, and the host of each rank, one per line.

A node is one SimGrid host, so that its ranks know that they share a node. Each node has a route to
the switch of its cluster, one back, and one to itself. The latter is a link that all messages of
the node share. Its property MESSAGE is the bandwidth of a single message, which the simulated
program sets (bench/sim/costs.h). A second link of the policy FATPIPE would say the same, but
SimGrid's solver then takes a time that grows with the square of the messages under way on the node.
"""

from xml.etree.ElementTree import Element, ElementTree, SubElement, indent, tostring

from tutti.simulation.machines import Machine

HEADER = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
# SimGrid requires the speed of a core; it has no effect, because computation takes no simulated
# time.
SPEED = "10Gf"
MESSAGE = "message"  # in bytes per second


def node_name(node: int) -> str:
    return f"node{node}"


def _bandwidth(gigabytes: float) -> str:
    return f"{gigabytes * 1e9:.6g}Bps"


def _latency(microseconds: float) -> str:
    return f"{microseconds * 1000:.6g}ns"


def _link(zone: Element, name: str, latency_us: float, gigabytes: float) -> Element:
    attributes = {
        "id": name,
        "bandwidth": _bandwidth(gigabytes),
        "latency": _latency(latency_us),
        "sharing_policy": "SHARED",
    }
    return SubElement(zone, "link", attributes)


def _route(zone: Element, source: str, target: str, *links: str) -> None:
    route = SubElement(zone, "route", {"src": source, "dst": target, "symmetrical": "NO"})
    for link in links:
        SubElement(route, "link_ctn", {"id": link})


def _switch(cluster: int) -> str:
    return f"switch{cluster}"


def cluster_of(machine: Machine, node: int) -> int:
    """The cluster of a node. Clusters are consecutive nodes; their sizes differ by at most one."""
    return node * machine.clusters.count // machine.nodes


def _add_links(zone: Element, machine: Machine) -> None:
    network, memory = machine.network, machine.memory
    for node in range(machine.nodes):
        _link(zone, f"up{node}", network.latency_us / 2, network.gigabytes)
        _link(zone, f"down{node}", network.latency_us / 2, network.gigabytes)
        own = _link(zone, f"memory{node}", memory.latency_us, memory.shared_gigabytes)
        SubElement(own, "prop", {"id": MESSAGE, "value": f"{memory.gigabytes * 1e9:.6g}"})


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(count) for other in range(count) if one != other]


def platform(machine: Machine) -> str:
    """The text of the XML file."""
    root = Element("platform", {"version": "4.1"})
    zone = SubElement(root, "zone", {"id": machine.name, "routing": "Floyd"})
    groups = machine.clusters
    for node in range(machine.nodes):
        SubElement(
            zone, "host", {"id": node_name(node), "speed": SPEED, "core": str(machine.cores)}
        )
    for cluster in range(groups.count):
        SubElement(zone, "router", {"id": _switch(cluster)})
    _add_links(zone, machine)
    for one, other in _pairs(groups.count):
        _link(zone, f"between{one}-{other}", groups.latency_us, groups.gigabytes)
    for node in range(machine.nodes):
        name, switch = node_name(node), _switch(cluster_of(machine, node))
        _route(zone, name, name, f"memory{node}")
        _route(zone, name, switch, f"up{node}")
        _route(zone, switch, name, f"down{node}")
    for one, other in _pairs(groups.count):
        _route(zone, _switch(one), _switch(other), f"between{one}-{other}")
    indent(ElementTree(root))
    return HEADER + tostring(root, encoding="unicode") + "\n"


def hostfile(machine: Machine, ranks: int, deal: str) -> str:
    """The text of the host file, a line for each rank.

    block fills one node after the other; round_robin puts consecutive ranks on consecutive nodes.
    """
    if deal == "block":
        places = [rank // machine.cores for rank in range(ranks)]
    else:
        places = [rank % machine.nodes for rank in range(ranks)]
    return "".join(f"{node_name(place)}\n" for place in places)
