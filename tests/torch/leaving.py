"""The first of two ranks gives data and ends at once; the second reads it late."""

import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
from tutti.torch.extension import load


def main(rank: int, store: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=2)
    data = torch.full((70000,), float(rank))
    got = torch.empty(70000)
    if rank == 0:
        dist.send(torch.full((70000,), 5.0), 1)
        dist.broadcast(data, 0)
        open(store + ".given", "w").close()
        return
    while not os.path.exists(store + ".given"):
        time.sleep(0.01)
    time.sleep(0.5)
    dist.recv(got, 0)
    dist.broadcast(data, 0)
    assert bool((got == 5).all()) and bool((data == 0).all())
    print("all is there", flush=True)


if __name__ == "__main__":
    load()
    for how in ("fork", "spawn"):
        with tempfile.TemporaryDirectory() as directory:
            store = os.path.join(directory, "store")
            context = mp.get_context(how)
            ranks = [context.Process(target=main, args=(rank, store)) for rank in (0, 1)]
            for process in ranks:
                process.start()
            for process in ranks:
                process.join(90)
            codes = [process.exitcode for process in ranks]
            assert codes == [0, 0], (how, codes)
