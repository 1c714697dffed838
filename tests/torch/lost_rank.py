"""lost_rank.py HOW: two ranks, of which the second is killed or stopped. The first says what its
call tells it, and when.

    ddp      killed; the first trains with DistributedDataParallel
    future   killed; the first waits for a future
    poll     killed; the first polls is_completed()
    stopped  stopped; the first waits for a future, and the call's time is 3 s
    late     stopped; the first's wait ends in time, and it drops the Work, whose tensor is not
             written when the second goes on
"""

import datetime
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
from torch.nn.parallel import DistributedDataParallel

TIMEOUT = {"stopped": 3, "late": 1}
LIMIT = 60  # seconds of a rank; then the alarm ends it


def lose(how: str) -> None:
    stops = how in ("stopped", "late")
    os.kill(os.getpid(), signal.SIGSTOP if stops else signal.SIGKILL)


def train(rank: int) -> None:
    model = DistributedDataParallel(torch.nn.Linear(20, 1))
    for step in range(10**9):
        if rank == 1 and step == 3:
            lose("ddp")
        model(torch.ones(4, 20)).sum().backward()


def wait_late(go_on: str) -> str:
    tensor = torch.ones(5)
    work = dist.all_reduce(tensor, async_op=True)
    try:
        work.wait()
    except dist.DistBackendError as error:
        told = str(error)
    del work
    open(go_on, "w").close()
    while not os.path.exists(go_on + ".gone"):  # the second has started its call
        time.sleep(0.01)
    time.sleep(0.5)  # time for the helper thread to write the tensor, which it must not
    assert tensor.tolist() == [1.0] * 5, tensor
    return told


def main(rank: int, how: str, store: str) -> None:
    signal.alarm(LIMIT)
    torch.set_num_threads(1)
    timeout = datetime.timedelta(seconds=TIMEOUT.get(how, 1800))
    dist.init_process_group(
        "cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=2, timeout=timeout
    )
    dist.barrier()
    if rank == 1 and how != "ddp":
        lose(how)
        dist.all_reduce(torch.ones(5), async_op=True)
        open(store + ".go.gone", "w").close()
        time.sleep(LIMIT)
    told = "nothing"
    try:
        if how == "ddp":
            train(rank)
        elif how == "late":
            told = wait_late(store + ".go")
        elif how == "poll":
            work = dist.all_reduce(torch.ones(5), async_op=True)
            while not work.is_completed():
                time.sleep(0.001)
            work.wait()
        else:
            dist.all_reduce(torch.ones(5), async_op=True).get_future().wait()
    except RuntimeError as error:
        told = str(error).splitlines()[0]
    print(f"told: {told}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        store = os.path.join(directory, "store")
        context = mp.get_context("spawn")
        ranks = [context.Process(target=main, args=(rank, sys.argv[1], store)) for rank in (0, 1)]
        for process in ranks:
            process.start()
        while ranks[0].is_alive():
            ranks[0].join(0.05)
            if os.path.exists(store + ".go"):
                os.kill(ranks[1].pid or 0, signal.SIGCONT)
        ranks[1].kill()
        ranks[1].join()
        assert ranks[0].exitcode == 0, ranks[0].exitcode
