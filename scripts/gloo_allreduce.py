"""Times allreduce of torch.distributed's gloo backend among processes of this machine.

    python3 gloo_allreduce.py RANKS FILE

Writes a JSON document with a row for each length: the median over the calls of the slowest rank's
time in microseconds. It is for comparison with Tutti's allreduce (scripts/many_cores.sh), and needs
torch and nothing else. Without torch it writes a document without rows.
"""

import json
import os
import statistics
import sys
import tempfile
import time

BYTES = (64, 4 << 10, 64 << 10, 1 << 20, 16 << 20)
SECONDS = 1.0  # for each length
MOST_CALLS = 400


def measure(rank: int, ranks: int, meeting: str, file: str) -> None:
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank]})
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    rows = []
    for length in BYTES:
        vector = torch.ones(length // 4)
        times = []
        began = time.monotonic()
        go = torch.ones(1)
        while go.item() and len(times) < MOST_CALLS:
            vector.fill_(1.0)
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(vector)
            times.append(time.perf_counter() - start)
            if vector[-1].item() != ranks:
                raise SystemExit(f"gloo: a wrong sum of {length} bytes")
            go.fill_(1.0 if time.monotonic() - began < SECONDS else 0.0)
            dist.broadcast(go, 0)
        slowest = torch.tensor(times)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        rows.append(
            {
                "collective": "allreduce",
                "variant": "gloo",
                "ranks": ranks,
                "bytes": length,
                "calls": len(times),
                "median_us": round(statistics.median(slowest.tolist()) * 1e6, 3),
            }
        )
    if rank == 0:
        write(file, torch.__version__, rows)
    dist.destroy_process_group()


def write(file: str, version: str | None, rows: list[dict[str, object]]) -> None:
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"format": "tutti-gloo 1", "torch": version, "rows": rows}, out, indent=1)


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    ranks, file = int(sys.argv[1]), sys.argv[2]
    try:
        import torch.multiprocessing as processes
    except ImportError:
        write(file, None, [])
        print("gloo: there is no torch", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as directory:
        meeting = os.path.join(directory, "meeting")
        processes.spawn(measure, (ranks, meeting, file), nprocs=ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
