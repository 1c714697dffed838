"""Ranks with 1, 2 and 3 threads each share their long copies and sums among these: threads.py RANKS.

Results have the same bits. The threads are those of torch, and the helper thread makes none. Ranks
that share one core use none of them.
"""

import hashlib
import os
import signal
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor
from tutti.torch import empty_shared
from tutti.torch.extension import load
from values import error_of

LIMIT = 240  # seconds of a rank
SIZE = 1000003  # of a tensor; an odd one


def threads() -> set[str]:
    return set(os.listdir("/proc/self/task"))


def milliseconds_of(some: set[str]) -> list[float]:
    """The time for which each of the threads has run."""
    paths = [f"/proc/self/task/{thread}/schedstat" for thread in some]
    return [int(open(path).read().split()[0]) / 1e6 for path in paths]


def numbers(size: int, dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(dist.get_rank())
    return (100 * torch.randn(size, generator=generator)).to(dtype)


def results() -> list[Tensor]:
    rank, ranks, op = dist.get_rank(), dist.get_world_size(), dist.ReduceOp
    made = []
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int32):
        for how in (op.SUM, op.MAX) if dtype == torch.int32 else (op.SUM, op.AVG, op.MAX):
            tensor = numbers(SIZE, dtype)
            dist.all_reduce(tensor, how)
            made.append(tensor)
        part = torch.empty(SIZE, dtype=dtype)
        dist.reduce_scatter_tensor(part, numbers(ranks * SIZE, dtype))
        made.append(part)
    for make in (torch.empty, empty_shared):
        given, got = make(SIZE).copy_(numbers(SIZE, torch.float32)), make(ranks * SIZE)
        dist.all_gather_into_tensor(got, given)
        made.append(got.clone())
        dist.all_to_all_single(got, numbers(ranks * SIZE, torch.float32))
        made.append(got)
        dist.broadcast(given, ranks - 1)
        made.append(given)
    letter = numbers(SIZE, torch.float32)
    received = torch.empty(SIZE)
    dist.send(letter, (rank + 1) % ranks)
    dist.recv(received, (rank - 1) % ranks)
    return [*made, received]


def gather_alone(given: Tensor, got: Tensor) -> None:
    backend = load().create(dist.HashStore(), 0, 1, 1000 * LIMIT)
    backend._allgather_base(got, given).wait()


def work_in_child() -> None:
    """OpenMP's threads stay with the parent, so a child that used them would wait for ever."""
    given, got = torch.ones(SIZE), torch.zeros(SIZE)
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT // 4)
        error = error_of(lambda: gather_alone(given, got))
        print(error, flush=True) if error != "no error" else None
        os._exit(0 if got[0].item() == got[-1].item() == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0


def main(rank: int, ranks: int, count: int, one_core: bool, directory: str) -> None:
    signal.alarm(LIMIT)
    if one_core:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(count)  # makes the threads of another pool of torch's
    before = threads()
    torch.ones(10 * SIZE)
    pool = threads() - before
    assert len(pool) == count - 1, (pool, before)
    place = f"file://{directory}/store{count}{one_core}"
    dist.init_process_group("cpu:tutti", init_method=place, rank=rank, world_size=ranks)
    tensor = torch.ones(10 * SIZE)
    dist.barrier()
    ran_before = milliseconds_of(pool)
    for _ in range(10):
        dist.all_reduce(tensor)
    ran = [now - then for now, then in zip(milliseconds_of(pool), ran_before, strict=True)]
    assert all(time < 2 if one_core else time > 5 for time in ran), ran
    digest = hashlib.sha256()
    for result in results():
        digest.update(result.view(torch.uint8).numpy())
    # The helper thread takes these results, and copies them to a tensor with gaps.
    wide = torch.ones(2 * SIZE)
    dist.all_reduce(wide[::2], async_op=True).get_future().wait()
    assert bool((wide[::2] == ranks).all()) and bool((wide[1::2] == 1).all())
    work_in_child()
    made = threads() - before - pool
    assert len(made) == 1, f"{len(made)} more threads than torch's"
    os.write(1, f"{rank} {digest.hexdigest()}\n".encode())  # a whole line
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads run only while they work
    with tempfile.TemporaryDirectory() as directory:
        ranks = int(sys.argv[1])
        mp.spawn(main, (ranks, 2, True, directory), nprocs=ranks)
        os.environ["OMP_PROC_BIND"] = "spread"  # so all threads are used, also on few cores
        for count in (1, 2, 3):
            mp.spawn(main, (ranks, count, False, directory), nprocs=ranks)
