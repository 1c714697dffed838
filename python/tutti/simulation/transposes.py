"""The transposes of a distributed Fourier transform, with and without servers: the communication of
UPC-FT in section 5.3 and figure 10 of "Exploiting Communication Concurrency on High Performance
Computing Systems".

PX x PZ processes hold NX x NY x NZ complex numbers. In the first round each process exchanges its
planes, one after the other, with the PX processes of its row: blocks of 16 NX/PX NY/PX bytes. In
the second it exchanges blocks of 16 NY/PZ NX/PX bytes with the PZ processes of its column, until
all its numbers have gone. One exchange is an all-to-all of gets. It is simulated for one row and
one column, with a process on each node: rows, and columns, share no adapter. Equal exchanges are
simulated once and multiplied. The whole program also computes: 5 N log2 N operations for N numbers
by 8 threads, with and without servers, as in the paper; their speed is a usual figure.
"""

import math
from dataclasses import dataclass
from typing import Any

from tutti.simulation.injection import ALLTOALL_SERVERS, Simulator

NUMBER = 16  # bytes of a complex number
THREADS, GIGAFLOPS = 8, 1.5  # a process has so many; each computes so much a second by FFTW


@dataclass(frozen=True)
class Problem:
    name: str
    size: tuple[int, int, int]
    cores: int  # as the paper counts them
    grid: tuple[int, int]  # PX, PZ

    @property
    def rounds(self) -> list[tuple[int, int, int]]:
        """(processes, bytes of a block, exchanges of a process), of both rounds."""
        (nx, ny, nz), (px, pz) = self.size, self.grid
        bytes_of_process = NUMBER * nx * ny * nz // (px * pz)
        blocks = ((px, NUMBER * (nx // px) * (ny // px)), (pz, NUMBER * (ny // pz) * (nx // px)))
        return [(ranks, block, bytes_of_process // (ranks * block)) for ranks, block in blocks]

    @property
    def computing_us(self) -> float:
        numbers, processes = math.prod(self.size), math.prod(self.grid)
        return 5 * numbers * math.log2(numbers) / processes / (THREADS * GIGAFLOPS * 1000)


# 12 cores are a process: one NUMA region of Edison's nodes.
CLASS_A = [
    Problem("A", (256, 256, 128), 1536, (px, 128 // px)) for px in (2, 4, 8, 16, 32, 64)
]  # fmt: skip
PROBLEMS = [*CLASS_A, Problem("D-1/s", (1024, 512, 512), 12288, (128, 8))]


def transposes(simulator: Simulator, problems: list[Problem] = PROBLEMS) -> list[dict[str, Any]]:
    """The microseconds of each problem's communication: by clients alone, and with servers by the
    adaptive policy."""
    ways: list[dict[str, Any]] = [
        {},
        *({"servers": servers, "policy": "adaptive"} for servers in ALLTOALL_SERVERS),
    ]
    kinds = dict.fromkeys(
        (ranks, block) for problem in problems for ranks, block, _ in problem.rounds
    )
    cells = [
        {"nodes": ranks, "all_to_all": True, "kind": "get", "bytes": block}
        for ranks, block in kinds
    ]
    times = {
        kind: [one["us"] for one in found]
        for kind, found in zip(kinds, simulator.each(cells, ways), strict=True)
    }
    rows = []
    for problem in problems:
        rounds = problem.rounds
        own, *served = (
            sum(count * times[ranks, block][way] for ranks, block, count in rounds)
            for way in range(len(ways))
        )
        rows.append(
            {
                "class": problem.name,
                "size": list(problem.size),
                "cores": problem.cores,
                "grid": list(problem.grid),
                "rounds": [
                    {"processes": ranks, "bytes": block, "exchanges": count}
                    for ranks, block, count in rounds
                ],
                "own_us": own,
                "computing_us": problem.computing_us,
                "served": [
                    {
                        "servers": servers,
                        "us": time,
                        "gain": own / time,
                        "whole_gain": (own + problem.computing_us) / (time + problem.computing_us),
                    }
                    for servers, time in zip(ALLTOALL_SERVERS, served, strict=True)
                ],
            }
        )
    return rows
