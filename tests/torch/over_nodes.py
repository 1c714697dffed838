"""The ranks of one of several nodes: over_nodes.py CASE STORE NODES NODE.

NODES are the ranks of each node, such as 0,1/2,3. `cases` runs the cases of cases.py; the others
are here. Each rank says that it has passed.
"""

import datetime
import os
import signal
import sys
import time
from collections.abc import Callable

import cases
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
import values

# These look at how the ranks of one node give their data.
LEFT_OUT = (
    "test_group_that_ends_late",
    "test_shared_tensors_are_read_where_they_are",
    "test_types_that_differ",
)
LIMIT = 100  # seconds of a rank
TIMEOUTS = {"late": 3.0, "stopped": 3.0}  # seconds


def error_of(call: Callable[[], object]) -> str:
    told = values.error_of(call)
    assert told != "no error"
    return told


def every_type(rank: int, ranks: int) -> None:
    """Small whole numbers, whose results are exact in every type, in all calls that reduce."""
    op = dist.ReduceOp
    whole = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
    whole += [torch.uint16, torch.uint32, torch.uint64]
    real = [torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.float8_e4m3fn]
    for dtype in [*whole, *real, torch.complex64]:
        for how, combine in (
            (op.SUM, lambda all: all.sum(0)),
            (op.PRODUCT, lambda all: all.prod(0)),
            (op.MIN, lambda all: all.amin(0)),
            (op.MAX, lambda all: all.amax(0)),
            (op.AVG, lambda all: all.sum(0).double() / ranks),
            (op.BAND, lambda all: all[0] & all[-1] if ranks == 2 else all[0] & all[1] & all[-1]),
        ):
            if (how in (op.BAND,) and dtype not in whole) or (how == op.AVG and dtype in whole):
                continue
            if dtype == torch.complex64 and how not in (op.SUM, op.AVG):
                continue
            if how == op.BAND and ranks > 3:
                continue
            for size in (ranks, 1000 * ranks):
                every = torch.stack([1 + (torch.arange(size) + one) % 2 for one in range(ranks)])
                expected = combine(every).to(torch.float64)
                given = every[rank].to(torch.float64).to(dtype)
                own = given.clone()
                dist.all_reduce(own, how)
                label = (dtype, how, size)
                rounded = expected.to(dtype)
                assert torch.equal(own.view(torch.uint8), rounded.view(torch.uint8)), label
                part = torch.empty(size // ranks, dtype=dtype)
                dist.reduce_scatter_tensor(part, given, how)
                mine = rounded.split(size // ranks)[rank]
                assert torch.equal(part.view(torch.uint8), mine.contiguous().view(torch.uint8)), (
                    label
                )
                own = given.clone()
                dist.reduce(own, ranks - 1, how)
                left = rounded if rank == ranks - 1 else given
                assert torch.equal(own.view(torch.uint8), left.view(torch.uint8)), label


def different(rank: int, ranks: int) -> None:
    """Calls that differ fail at every rank, and the group goes on."""
    last = rank == ranks - 1
    dtype = torch.int32 if last else torch.float32
    told = error_of(lambda: dist.all_reduce(torch.ones(3, dtype=dtype)))
    assert "all_reduce by SUM of Int" in told and "SUM of Float" in told, told
    told = error_of(lambda: dist.all_reduce(torch.ones(4 if last else 3)))
    assert "16 bytes" in told and "12 bytes" in told, told
    told = error_of(lambda: dist.barrier() if last else dist.broadcast(torch.ones(3), 0))
    assert "barrier" in told and "broadcast, 12 bytes, root 0" in told, told
    # Here the ranks that expect what they get go on.
    sizes = [2 if rank == 0 and other == ranks - 1 else 1 for other in range(ranks)]
    given, got = torch.ones(sum(sizes)), torch.zeros(ranks)

    def exchange() -> None:
        dist.all_to_all_single(got, given, [1] * ranks, sizes)

    if last:
        told = error_of(exchange)
        assert f"rank 0 has given 8 bytes in all_to_all where rank {rank} expects 4" in told, told
    else:
        exchange()
        assert got.tolist() == [1.0] * ranks
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [float(ranks)] * 3


def late(rank: int, ranks: int) -> None:
    """The last rank does not come. Waits end in time; then the group has ended."""
    dist.barrier()
    if rank == ranks - 1:
        time.sleep(10)
        return
    began = time.monotonic()
    work = dist.all_reduce(torch.ones(3), async_op=True)
    told = error_of(lambda: work.wait(datetime.timedelta(milliseconds=100)))
    assert "Timed out after 100 ms" in told and "allreduce" in told, told
    future = dist.all_reduce(torch.ones(3), async_op=True).get_future()
    told = error_of(work.wait)
    assert "Timed out" in told or f"rank {ranks - 1} has not" in told, told
    error_of(future.wait)
    while (told := error_of(dist.barrier)).startswith("tutti: Timed out"):
        assert time.monotonic() - began < 20
    print(f"rank {rank} after {time.monotonic() - began:.1f} s: {told}", flush=True)


def monitored(rank: int, ranks: int) -> None:
    backend = dist.group.WORLD._get_backend(torch.device("cpu"))
    backend.monitored_barrier()
    dist.barrier()
    if rank == ranks - 1:
        time.sleep(10)
    elif rank == 0:
        told = error_of(lambda: backend.monitored_barrier(datetime.timedelta(seconds=4), True))
        assert f"ranks {ranks - 1} failed to pass" in told, told
    else:
        limit = datetime.timedelta(seconds=4)
        assert "has not heard" in error_of(lambda: backend.monitored_barrier(limit))
    # The wait that has ended in time has broken nothing.
    tensor = torch.ones(3)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [float(ranks)] * 3
    if rank == 0:
        dist.send(torch.ones(1), ranks - 1)
    elif rank == ranks - 1:
        got = torch.zeros(1)
        assert dist.recv(got) == 0 and got.item() == 1


def lose(rank: int, ranks: int, victim: int, how: int) -> None:
    dist.barrier()
    began = time.monotonic()
    try:
        for step in range(10**9):
            if rank == victim and step == 20:
                os.kill(os.getpid(), how)
            dist.all_reduce(torch.ones(3000))
            dist.broadcast(torch.ones(3000), step % ranks)
            assert time.monotonic() - began < 60
    except dist.DistBackendError as error:
        print(f"rank {rank} after {time.monotonic() - began:.1f} s: {error}", flush=True)
    assert time.monotonic() - began < 30


def killed_first(rank: int, ranks: int) -> None:
    lose(rank, ranks, 0, signal.SIGKILL)


def killed_last(rank: int, ranks: int) -> None:
    lose(rank, ranks, ranks - 1, signal.SIGKILL)


def killed_sender(rank: int, ranks: int) -> None:
    """Who waits for its message gets an error."""
    dist.barrier()
    if rank == ranks - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        assert "has failed" in error_of(lambda: dist.recv(torch.ones(1), ranks - 1))


def main(local: int, case: str, store: str, nodes: str, node: int) -> None:
    signal.alarm(LIMIT)
    values.NODES = [[int(rank) for rank in one.split(",")] for one in nodes.split("/")]
    rank, ranks = values.NODES[node][local], sum(len(one) for one in values.NODES)
    if case == "cases":
        cases.main(rank, ranks, store, LEFT_OUT)
    else:
        torch.set_num_threads(1)
        limit = datetime.timedelta(seconds=TIMEOUTS.get(case, 60))
        dist.init_process_group(
            "cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=ranks, timeout=limit
        )
        globals()[case](rank, ranks)
    print(f"rank {rank} passed", flush=True)
    if case not in ("cases", "killed_first", "killed_last", "killed_sender", "late"):
        dist.destroy_process_group()


if __name__ == "__main__":
    case, store, nodes, node = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    count = len(nodes.split("/")[node].split(","))
    context = mp.get_context("spawn")
    ranks = [
        context.Process(target=main, args=(local, case, store, nodes, node))
        for local in range(count)
    ]
    for process in ranks:
        process.start()
    for process in ranks:
        process.join()
    print(f"node {node}: {[process.exitcode for process in ranks]}", flush=True)
