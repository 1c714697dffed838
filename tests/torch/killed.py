"""Three ranks reduce without end; one is killed, and the others say what they are told."""

import os
import signal
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)

RANKS = 3


def main(rank: int, store: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=RANKS)
    end = time.monotonic() + 60
    for step in range(10**9):
        assert time.monotonic() < end
        if rank == 1 and step == 1000:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            dist.all_reduce(torch.ones(3000))
        except dist.DistBackendError as error:
            print(f"rank {rank}: {error}", flush=True)
            os._exit(0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        store = os.path.join(directory, "store")
        context = mp.get_context("spawn")
        ranks = [context.Process(target=main, args=(rank, store)) for rank in range(RANKS)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join(90)
        codes = [process.exitcode for process in ranks]
        assert codes == [0, -signal.SIGKILL, 0], codes
