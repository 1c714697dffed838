"""Times of collectives by gloo and by tutti, in turns: what torch.distributed's users wait for.

    python examples/torch/compare.py --ranks 2

A row has the median of the ratios gloo / tutti over pairs of repetitions that follow each other,
with the quartiles of the ratios, and the median times of one call in microseconds, at rank 0.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)

SIZES = [8, 4096, 65536, 1 << 20, 32 << 20]  # bytes of the largest tensor of a rank
MOST_BYTES = 1 << 25  # moved by the calls of a repetition, but by at least one call


def calls(bytes_: int, group: dist.ProcessGroup) -> dict[str, Callable[[], object]]:
    ranks = dist.get_world_size()
    count = max(bytes_ // 4, ranks)
    whole, other, part = torch.ones(count), torch.ones(count), torch.ones(count // ranks)
    half = torch.ones(max(bytes_ // 2, 1), dtype=torch.bfloat16)
    return {
        "allreduce float": lambda: dist.all_reduce(whole, dist.ReduceOp.MAX, group=group),
        "allreduce bfloat16": lambda: dist.all_reduce(half, dist.ReduceOp.MAX, group=group),
        "allgather": lambda: dist.all_gather_into_tensor(whole, part, group=group),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole, group=group),
        "alltoall": lambda: dist.all_to_all_single(other, whole, group=group),
    }


def microseconds(call: Callable[[], object], times: int) -> float:
    dist.barrier()
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times * 1e6


def main(rank: int, ranks: int, seconds: float, store: str) -> None:
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // ranks))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    own = dist.new_group(backend="cpu:tutti")
    if rank == 0:
        print(f"{'':20} {'bytes':>9} {'ratio':>7} {'quartiles':>14} {'gloo us':>9} {'tutti us':>9}")
    for size in SIZES:
        gloo, tutti_calls = calls(size, dist.group.WORLD), calls(size, own)
        for name in gloo:
            times = max(1, min(50, MOST_BYTES // size))
            pairs = []
            probe = torch.tensor([microseconds(gloo[name], 2) + microseconds(tutti_calls[name], 2)])
            dist.all_reduce(probe, dist.ReduceOp.MAX)
            pair_seconds = probe.item() * times * 1e-6
            for _ in range(max(5, min(40, int(seconds / pair_seconds)))):
                pairs.append(
                    (microseconds(gloo[name], times), microseconds(tutti_calls[name], times))
                )
            ratios = [theirs / ours for theirs, ours in pairs]
            low, middle, high = statistics.quantiles(ratios, n=4)
            theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
            if rank == 0:
                print(
                    f"{name:20} {size:9} {middle:7.1f} {low:6.1f} -{high:6.1f} "
                    f"{theirs:9.0f} {ours:9.0f}",
                    flush=True,
                )
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "store")
        mp.spawn(main, (given.ranks, given.seconds, file), nprocs=given.ranks)
