"""A V-cycle of miniGMG with and without servers: the whole program of section 5.1 and figures 5 to 8
of "Exploiting Communication Concurrency on High Performance Computing Systems".

A process, on a NUMA region of its own, has 1, 8 or 64 boxes of 32, 64 or 128 cells in each
direction. The steps are those of examples/apps/multigrid: before each it says by six messages of 8
bytes that its faces are there, and gets those of its six neighbours, all faces for one in one get.
Both are simulated, between two nodes. The time of the steps' own work is the larger one of what
memory and what threads take, by the figures below, which are usual ones and not the paper's. The
sums over all processes are left out: they take the same time in all ways.

Without servers all cores of the region are threads'. Servers take their cores from them. How the
system shares cores among more threads than there are (figure 6, left) is not simulated.
"""

from typing import Any

from tutti.simulation.injection import STATIC, Simulator

NEIGHBOURS = 6
BOXES = (1, 8, 64)
SIDES = (32, 64, 128)
# Exchanges of a V-cycle: 4 sweeps of two colours, a residual and an interpolation; on the last
# level, of 2 cells, 3 iterations of conjugate gradients and an interpolation.
EXCHANGES, EXCHANGES_AT_BOTTOM = 10, 4
BYTES_OF_CELL = 24  # a step reads two numbers and writes one
GIGABYTES = {"carver": 18.0}  # a second of the region's memory, by machine
USUAL_GIGABYTES = 45.0
CACHE = 30e6  # bytes: levels that fit in are not moved
CELL_NS = 1.0  # a thread's work on a cell
SERVED = (2, 3)


def levels_of(boxes: int, side: int) -> list[tuple[int, int, int]]:
    """(exchanges, bytes of a get, cells) of each level in a V-cycle."""
    across = round(boxes ** (1 / 3))
    levels = []
    while side >= 2:
        count = EXCHANGES if side > 2 else EXCHANGES_AT_BOTTOM
        levels.append((count, across**2 * side**2 * 8, boxes * side**3))
        side //= 2
    return levels


def work_us(cells: int, bytes_of_get: int, threads: int, gigabytes: float) -> float:
    """A step's work on so many cells, with packing and unpacking."""
    moved = 2 * 2 * NEIGHBOURS * bytes_of_get
    if cells * BYTES_OF_CELL > CACHE:
        moved += cells * BYTES_OF_CELL
    return max(moved / gigabytes, cells * CELL_NS / threads) / 1000


def v_cycles(simulator: Simulator) -> list[dict[str, Any]]:
    """A V-cycle's microseconds of each problem: by clients alone; and with servers that get all
    transfers in turn, those that gain by the best setting for each length (selective), and those
    that gain by the adaptive policy."""
    problems = {(boxes, side): levels_of(boxes, side) for boxes in BOXES for side in SIDES}
    sizes = sorted({size for levels in problems.values() for _, size, _ in levels})
    policies: list[Any] = ["own", *STATIC, "adaptive"]
    cells = [(size, servers, policy) for size in sizes for servers in SERVED for policy in policies]
    base = {"kind": "get", "messages": NEIGHBOURS}
    cores = simulator.machine["cores"] // simulator.machine["domains"]
    gigabytes = GIGABYTES.get(simulator.machine["name"], USUAL_GIGABYTES)
    found = simulator.run(
        [
            {"kind": "put", "bytes": 8, "messages": NEIGHBOURS},
            *(
                base | {"bytes": size, "servers": servers, "policy": policy}
                for size, servers, policy in cells
            ),
        ]
    )
    told = found[0]["us"]  # puts of 8 bytes, by the client in each way
    times: dict[tuple[int, int], list[float]] = {}  # in the order of policies
    for (size, servers, _), one in zip(cells, found[1:], strict=True):
        times.setdefault((size, servers), []).append(told + one["us"])

    def whole(levels: list[tuple[int, int, int]], threads: int, gets: dict[int, float]) -> float:
        return sum(
            count * (gets[size] + work_us(cells, size, threads, gigabytes))
            for count, size, cells in levels
        )

    rows = []
    for (boxes, side), levels in problems.items():
        own = {size: times[size, SERVED[0]][0] for _, size, _ in levels}
        alone = whole(levels, cores, own)
        served = []
        for servers in SERVED:
            of = {size: times[size, servers] for size in own}
            ways = {
                "all": {size: one[policies.index(STATIC[0])] for size, one in of.items()},
                "selective": {size: min(one[:-1]) for size, one in of.items()},
                "adaptive": {size: one[-1] for size, one in of.items()},
            }
            gains = {way: alone / whole(levels, cores - servers, us) for way, us in ways.items()}
            served.append({"servers": servers, "gains": gains})
        communicating = sum(count * own[size] for count, size, _ in levels) / alone
        rows.append(
            {
                "boxes": boxes,
                "side": side,
                "own_us": alone,
                "communicating": communicating,
                "served": served,
            }
        )
    return rows
