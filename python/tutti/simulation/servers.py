"""The experiments of `tutti sim --servers`: injection, transposes and V-cycles, with and without
servers.
"""

from typing import Any

from tutti import __version__
from tutti.simulation.injection import (
    ALLTOALL_SIZES,
    COUNTS,
    SERVERS,
    SIZES,
    Simulator,
    all_to_all,
    parallel,
    saturation,
    trends,
)
from tutti.simulation.multigrid import v_cycles
from tutti.simulation.transposes import transposes

EXPERIMENTS = {
    "saturation": "figures 2 and 3, top: the fraction of the peak by cores and size",
    "parallel": "figures 2 and 3, bottom: what two servers gain by size and number of messages",
    "alltoall": "figure 9: an all-to-all of gets in a loop, with and without servers",
    "trends": "figure 11: one client in each NUMA region, two servers, and the peak",
    "fft": "figure 10: the transposes of a Fourier transform on 1,536 and 12,288 cores",
    "multigrid": "figures 5 to 8: a V-cycle of multigrid, whose servers take cores from its threads",
}


def experiment(
    simulator: Simulator,
    wanted: list[str],
    nodes: int,
    sizes: list[int] | None,
) -> dict[str, Any]:
    """The document of `tutti sim --servers --json`."""
    document: dict[str, Any] = {
        "format": "tutti-sim-servers 1",
        "tutti": __version__,
        "machine": simulator.machine,
        "servers": SERVERS,
    }
    if "saturation" in wanted or "trends" in wanted:
        document["map"] = saturation(simulator)
    if "parallel" in wanted:
        document["parallel"] = parallel(simulator, sizes or SIZES, COUNTS)
    if "alltoall" in wanted:
        document["alltoall"] = all_to_all(simulator, nodes, sizes or ALLTOALL_SIZES)
    if "trends" in wanted:
        within = [size for size in sizes or SIZES if size in document["map"]["bytes"]]
        document["trends"] = trends(simulator, document["map"], within)
    if "fft" in wanted:
        document["fft"] = transposes(simulator)
    if "multigrid" in wanted:
        document["multigrid"] = v_cycles(simulator)
    return document
