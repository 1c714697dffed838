"""The clusters that `tutti sim` knows, with the figures of their links.

A message between nodes keeps its sender and its receiver busy for `overhead_us` each and its
sender's adapter for `gap_us`. It travels for the latency plus its bytes over the bandwidth. All
messages of a node share its link's bandwidth in each direction. A message within a node has a
latency and a bandwidth of its own, and all messages within a node share the bandwidth of its
memory. A message shorter than `eager_bytes` leaves before its receiver has asked for it; between
nodes such messages leave one after the other.
"""

from dataclasses import dataclass, replace

from tutti.errors import UserError


@dataclass(frozen=True)
class Network:
    """The links between nodes."""

    latency_us: float  # from adapter to adapter
    gigabytes: float  # GB/s in each direction
    overhead_us: float
    gap_us: float


@dataclass(frozen=True)
class Memory:
    """Messages between the ranks of a node, through its memory."""

    latency_us: float
    gigabytes: float  # GB/s from one rank to another
    shared_gigabytes: float  # GB/s of all messages in the node together
    overhead_us: float


@dataclass(frozen=True)
class Clusters:
    """Groups of nodes with one slow link between each two groups; figures as in Network."""

    count: int
    latency_us: float
    gigabytes: float


@dataclass(frozen=True)
class Machine:
    name: str
    what: str
    source: str  # where the figures come from
    nodes: int
    cores: int  # of each node; a rank runs on each core
    network: Network
    memory: Memory
    eager_bytes: int = 16384
    clusters: Clusters = Clusters(1, 0, 0)

    @property
    def ranks(self) -> int:
        return self.nodes * self.cores


# The link carries 32 Gbit/s without its coding (NUMACol, section 4.1); an adapter on PCI Express
# 2.0 x8 brings about 3.2 GB/s of them into memory. The other figures are usual for MPIs on such a
# link: 1.6 us from rank to rank, a third of it on the processors, and about 2.5 million messages
# per second.
QDR = Network(latency_us=1.1, gigabytes=3.2, overhead_us=0.25, gap_us=0.4)
QDR_SOURCE = "InfiniBand 4X QDR, 32 Gbit/s"

# A message is copied twice, through a segment that stays in the shared cache. Each byte is read
# once from a rank's own memory and written once to another's, and a write reads the line first. So
# one byte of a message takes three bytes of the bandwidth that STREAM measures (two sockets of
# about 20 GB/s).
WESTMERE = Memory(latency_us=0.35, gigabytes=4.5, shared_gigabytes=13, overhead_us=0.1)
NEHALEM = Memory(latency_us=0.35, gigabytes=4.5, shared_gigabytes=12, overhead_us=0.1)
# Four sockets of two dies each; about 90 GB/s by STREAM, and slower from die to die.
MAGNY_COURS = Memory(latency_us=0.5, gigabytes=2.5, shared_gigabytes=30, overhead_us=0.15)

# The paper names no network, but gives two ratios: the next message can leave after a third of the
# time that a message travels (alpha), and a byte takes ten times as long between nodes as within
# one. We assume Gigabit Ethernet with TCP: 30 us from rank to rank, and 117 of its 125 MB/s. The
# gap is a third of the 30 us, the memory ten times as fast as the network, and the overheads are
# usual ones.
ETHERNET = Network(latency_us=20, gigabytes=0.117, overhead_us=5, gap_us=10)
OPTERON = Memory(latency_us=0.5, gigabytes=1.17, shared_gigabytes=3.3, overhead_us=0.2)

MACHINES = {
    machine.name: machine
    for machine in (
        Machine(
            "mpich2",
            "16 nodes of 4 Opteron cores, Gigabit Ethernet",
            "Hierarchical Collectives in MPICH2, sections 3.1 and 4: alpha = 1/3, memory ten "
            "times as fast",
            16,
            4,
            ETHERNET,
            OPTERON,
            eager_bytes=65536,
        ),
        Machine(
            "hmpi-xeon",
            "16 nodes of 2 x 6 Westmere cores, InfiniBand QDR",
            f"HMPI, section 3: Xeon X5650, Voltaire {QDR_SOURCE}",
            16,
            12,
            QDR,
            WESTMERE,
        ),
        Machine(
            "hmpi-opteron",
            "8 nodes of 4 x 8 Magny-Cours cores, InfiniBand QDR",
            f"HMPI, section 3: Opteron 6100, Voltaire {QDR_SOURCE}",
            8,
            32,
            QDR,
            MAGNY_COURS,
        ),
        Machine(
            "juropa",
            "512 nodes of 2 x 4 Nehalem cores, InfiniBand QDR",
            f"NUMACol, section 4.1: JuRoPA, Xeon X5570, Mellanox ConnectX {QDR_SOURCE}",
            512,
            8,
            QDR,
            NEHALEM,
        ),
        Machine(
            "juropa-6",
            "the same with 6 ranks on each node",
            "NUMACol, section 4, figure 11",
            512,
            6,
            QDR,
            NEHALEM,
        ),
        Machine(
            "judge",
            "54 nodes of 2 x 6 Westmere cores, InfiniBand QDR",
            f"NUMACol, section 4.1: JUDGE, Xeon X5650, Mellanox ConnectX {QDR_SOURCE}",
            54,
            12,
            QDR,
            WESTMERE,
        ),
    )
}
OWN = replace(
    MACHINES["hmpi-xeon"],
    name="own",
    what="a cluster given by options",
    source="--nodes, --cores, --latency, --bandwidth",
)
MOST_NODES = 4096
MOST_RANKS = 16384


def named(name: str) -> Machine:
    if name not in MACHINES:
        raise UserError(
            f"--machine: '{name}' is unknown; known are {', '.join(MACHINES)} (tutti sim --list)"
        )
    return MACHINES[name]


def checked(machine: Machine) -> Machine:
    """The machine. Raises UserError if it has figures that SimGrid cannot simulate."""
    for option, count, most in (
        ("--nodes", machine.nodes, MOST_NODES),
        ("--cores", machine.cores, 1024),
    ):
        if not 1 <= count <= most:
            raise UserError(
                f"{option}: {count} is not accepted; give a whole number from 1 to {most}"
            )
    if machine.ranks > MOST_RANKS:
        raise UserError(
            f"{machine.nodes} nodes of {machine.cores} cores are {machine.ranks} ranks; give "
            f"--nodes and --cores for at most {MOST_RANKS}"
        )
    groups = machine.clusters
    if not 1 <= groups.count <= machine.nodes:
        raise UserError(
            f"--clusters: {groups.count} is not accepted; give 1 to {machine.nodes}, the number of "
            "nodes"
        )
    for option, latency in (
        ("--latency", machine.network.latency_us),
        ("--cluster-latency", groups.latency_us),
    ):
        if not 0 <= latency <= 1e9:
            raise UserError(
                f"{option}: {latency:g} is not accepted; give microseconds from 0 to 1e9"
            )
    wide = [("--bandwidth", machine.network.gigabytes)]
    if groups.count > 1:
        wide.append(("--cluster-bandwidth", groups.gigabytes))
    for option, gigabytes in wide:
        if not 1e-6 <= gigabytes <= 1e6:
            raise UserError(f"{option}: {gigabytes:g} is not accepted; give GB/s from 1e-6 to 1e6")
    return machine
