"""Experiments on simulated injection: clients that start one-sided messages by themselves or hand
them to servers, as in "Exploiting Communication Concurrency on High Performance Computing Systems".

The program tutti-injection simulates them (src/model/injection); this module says what to simulate and
what follows from it. Times are in microseconds, and bandwidths in GB/s that a node sends.
"""

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tutti.errors import RunError, UserError
from tutti.places import program
from tutti.rows import PrintedRow, read_rows, rows_of
from tutti.saturation import KINDS, map_of

FILES = Path(__file__).parent.parent / "machines" / "injection"
SERVERS = 2
BATCH = 4  # the batch of the paper's figures
SIZES = [8 << i for i in range(15)]  # to 128 KiB
COUNTS = [2, 4, 8, 16, 32, 64, 128]
STATIC = [
    {"batch": batch, "client_takes_turns": turns} for turns in (False, True) for batch in range(1, 11)
]  # fmt: skip
ALLTOALL_SIZES = [8 << i for i in range(12)]  # to 16 KiB
ALLTOALL_SERVERS = (2, 3)
RULE = ("least_waiting", "batch", "client_takes_turns")
SECONDS = 900


def known_machines() -> dict[str, Path]:
    return {file.stem: file for file in sorted(FILES.glob("*.json"))}


def read_machine(name: str) -> tuple[str, Any]:
    """(name of the file, its JSON) of a machine that comes with Tutti, or of a file.

    Raises UserError. tutti-injection checks what is in it.
    """
    known = known_machines()
    file = known.get(name, Path(name))
    try:
        return str(file), json.loads(file.read_text())
    except OSError as error:
        raise UserError(
            f"--machine: '{name}' cannot be read ({error.strerror}); with --servers give a file or "
            f"one of {', '.join(known)}"
        ) from error
    except ValueError as error:
        raise UserError(f"--machine: {file} is no JSON: {error}; correct it") from error


@dataclass(frozen=True)
class Simulator:
    """Runs settings on one machine."""

    file: str
    machine: Any

    def run(self, settings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The result of each setting, in microseconds."""
        return [
            {
                "us": round(row["ns"] / 1000, 4),
                "gigabytes": row["gigabytes"],
                "messages": row["messages"],
                "handed": row["handed"],
                "rule": {name: row[name] for name in RULE} if "batch" in row else None,
            }
            for row in rows_of(self.rows(settings), "injection")
        ]

    def each(
        self, cells: Sequence[dict[str, Any]], ways: Sequence[dict[str, Any]]
    ) -> list[list[dict[str, Any]]]:
        """The results of each cell in each way.

        They are of one run, because it makes the map for the adaptive policy once.
        """
        results = iter(self.run(cell | way for cell in cells for way in ways))
        return [[next(results) for _ in ways] for _ in cells]

    def rows(self, settings: Iterable[dict[str, Any]], map_: bool = False) -> list[PrintedRow]:
        usual = {
            "nodes": 2, "clients": 1, "servers": 0, "kind": "get", "bytes": 8, "messages": 1,
            "all_to_all": False, "most_outstanding": 128, "policy": "own",
        }  # fmt: skip
        request = {
            "file": self.file,
            "machine": self.machine,
            "map": map_,
            "settings": [usual | setting for setting in settings],
        }
        try:
            done = subprocess.run(
                [str(program("tutti-injection"))],
                input=json.dumps(request),
                capture_output=True,
                text=True,
                env=dict(os.environ),
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise RunError(
                f"the simulation did not end within {SECONDS} s; give fewer --nodes"
            ) from error
        if done.returncode != 0:
            message = done.stderr.strip().removeprefix("tutti-injection: ")
            raise UserError(message or f"tutti-injection: exit code {done.returncode}")
        return read_rows(done.stdout.splitlines())


def saturation(simulator: Simulator) -> dict[str, Any]:
    return map_of(simulator.rows([], map_=True))


def parallel(simulator: Simulator, sizes: list[int], counts: list[int]) -> list[dict[str, Any]]:
    """Each kind, size and number of messages: what clients take alone, by every static setting and
    by the adaptive policy. One client in each NUMA region, with two servers."""
    regions = simulator.machine["domains"]
    cells = [
        {"clients": clients, "kind": kind, "bytes": size, "messages": count}
        for clients in dict.fromkeys((1, regions))
        for kind in KINDS
        for size in sizes
        for count in counts
    ]
    ways = [{"servers": SERVERS, "policy": policy} for policy in ("own", "adaptive", *STATIC)]
    rows = []
    for cell, (own, adaptive, *static) in zip(cells, simulator.each(cells, ways), strict=True):
        times = [one["us"] for one in static]
        best = min(range(len(times)), key=times.__getitem__)
        at_four = times[STATIC.index({"batch": BATCH, "client_takes_turns": True})]
        least = min(own["us"], times[best])
        rows.append(
            cell
            | {
                "own_us": own["us"],
                "adaptive_us": adaptive["us"],
                "rule": adaptive["rule"] if adaptive["handed"] else None,
                "batches_of_four_us": at_four,
                "best_static_us": least,
                "best_static": "own" if least == own["us"] else STATIC[best],
                "gain": own["us"] / least,
                "adaptive_of_best": least / adaptive["us"],
            }
        )
    return rows


def all_to_all(simulator: Simulator, nodes: int, sizes: list[int]) -> list[dict[str, Any]]:
    base = {"nodes": nodes, "all_to_all": True, "kind": "get"}
    served = [{"servers": servers, "policy": "adaptive"} for servers in ALLTOALL_SERVERS]
    cells = [base | {"bytes": size} for size in sizes]
    rows = []
    for size, (own, *others) in zip(sizes, simulator.each(cells, [{}, *served]), strict=True):
        rows.append(
            {
                "bytes": size,
                "nodes": nodes,
                "own_us": own["us"],
                "own_gigabytes": own["gigabytes"],
                "served": [
                    {
                        "servers": servers,
                        "us": one["us"],
                        "gigabytes": one["gigabytes"],
                        "rule": one["rule"],
                        "gain": own["us"] / one["us"],
                    }
                    for servers, one in zip(ALLTOALL_SERVERS, others, strict=True)
                ],
            }
        )
    return rows


def trends(
    simulator: Simulator, map_: dict[str, Any], sizes: list[int], messages: int = 64
) -> list[dict[str, Any]]:
    regions = simulator.machine["domains"]
    cells = [{"kind": kind, "bytes": size} for kind in KINDS for size in sizes]
    of_all = {"clients": regions, "messages": messages, "servers": SERVERS}
    ways = [of_all | {"policy": policy} for policy in ("own", "adaptive")]
    rows = []
    for cell, (own, served) in zip(cells, simulator.each(cells, ways), strict=True):
        place = map_["bytes"].index(cell["bytes"])
        peak = max(row[place] for rows_ in map_[f"{cell['kind']}s"] for row in rows_)
        rows.append(
            cell
            | {
                "messages": messages,
                "own_gigabytes": own["gigabytes"],
                "served_gigabytes": served["gigabytes"],
                "peak_gigabytes": peak,
                "gain": own["us"] / served["us"],
            }
        )
    return rows
