"""Two ranks fork children in the midst of calls. The children are told that the groups are their
parents', and leave them as they are.
"""

import os
import signal
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from tutti.torch import empty_shared
from values import error_of

LIMIT = 60  # seconds of a process


def main(rank: int, store: str) -> None:
    signal.alarm(LIMIT)
    torch.set_num_threads(1)
    assert "call init_process_group" in error_of(lambda: empty_shared(3))
    dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=2)
    shared = empty_shared(70000).fill_(rank)
    tensor = torch.ones(3)
    dist.all_reduce(tensor, async_op=True).get_future().wait()  # the helper thread is there
    work = dist.all_reduce(tensor, async_op=True)
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT // 2)
        backend = dist.group.WORLD._get_backend(torch.device("cpu"))
        refused = [error_of(lambda: backend.barrier())]
        refused.append(error_of(lambda: backend.send([torch.ones(3)], 1 - rank, 0)))
        refused.append(error_of(work.wait))
        del work
        assert "call init_process_group" in error_of(lambda: empty_shared(3))
        assert bool((shared == rank).all())  # a copy
        shared.fill_(-1)
        del shared
        os._exit(0 if all("was forked" in one for one in refused) else 1)
    assert os.waitpid(child, 0)[1] == 0
    work.wait()
    assert tensor.tolist() == [4.0] * 3 and bool((shared == rank).all())
    dist.all_reduce(tensor, async_op=True).get_future().wait()
    assert tensor.tolist() == [8.0] * 3
    print("passed", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        mp.spawn(main, (os.path.join(directory, "store"),), nprocs=2)
