"""Rounds of kill -9: kill_rounds.py ROUNDS [SEED [MARGIN]].

In each round some ranks form a group and make calls without end. One of them is killed at a random
moment: while they start, form the group, wait, or copy. The others must get an error within the
timeout of a call (4 s, or MARGIN if that is more) and MARGIN seconds (2; more for a machine that
does other work). Nothing may stay behind: no file in /dev/shm or of Tutti's in the temporary
folder, no descriptor, no process.
"""

import datetime
import faulthandler
import os
import random
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch._dynamo  # DistributedDataParallel would import it, for seconds
import torch.distributed as dist
import tutti.torch  # noqa: F401 (registers the backend)
from torch.nn.parallel import DistributedDataParallel
from tutti.torch.extension import load

LEAST_TIMEOUT = 4.0  # seconds of a call
TOLD = 7  # the exit code of a rank that got an error


def make_calls(rank: int, ranks: int, seed: int, limit: datetime.timedelta) -> None:
    """The same calls at all ranks, until an error."""
    chosen = random.Random(seed)
    groups = [None]
    model = None
    for step in range(10**9):
        size = chosen.choice([0, 1, 100, 5000, 300000])
        call, group = chosen.randrange(9), chosen.choice(groups)
        tensor = torch.ones(size)
        if call == 0:
            dist.all_reduce(tensor, group=group)
        elif call == 1:
            dist.all_gather([torch.empty(size) for _ in range(ranks)], tensor, group=group)
        elif call == 2:
            dist.all_to_all_single(torch.empty(ranks * size), torch.ones(ranks * size), group=group)
        elif call == 3:
            work = dist.all_reduce(tensor, async_op=True, group=group)
            dist.broadcast(torch.ones(size), chosen.randrange(ranks), group=group)
            work.wait()
        elif call == 4:
            work = dist.isend(tensor, (rank + 1) % ranks)
            dist.recv(torch.empty(size), (rank - 1) % ranks)
            work.wait()
        elif call == 5:
            dist.all_reduce(tensor, async_op=True, group=group).get_future().wait()
        elif call == 6:
            work = dist.all_reduce(tensor, async_op=True, group=group)
            while not work.is_completed():
                time.sleep(0)
            work.wait()
        elif call == 7:
            model = model or DistributedDataParallel(torch.nn.Linear(50, 20))
            model(torch.ones(4, 50)).sum().backward()
        elif len(groups) < 4:
            groups.append(dist.new_group(list(range(ranks)), timeout=limit))


def timeout_for(margin: float) -> float:
    return max(LEAST_TIMEOUT, margin)


def be_rank(rank: int, ranks: int, store: str, seed: int, margin: float) -> None:
    timeout = timeout_for(margin)
    limit = datetime.timedelta(seconds=timeout)
    faulthandler.dump_traceback_later(timeout + 0.8 * margin)
    try:
        dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=rank,
                                world_size=ranks, timeout=limit)  # fmt: skip
        make_calls(rank, ranks, seed, limit)
    except (dist.DistError, RuntimeError) as error:
        Path(f"{store}.{rank}").write_text(str(error))
        os._exit(TOLD)
    except BaseException as error:
        print(f"rank {rank}: {type(error).__name__}: {error}", flush=True)
    os._exit(1)


def seen() -> list[str]:
    """A round may not change it. DistributedDataParallel makes a folder of the compiler's."""
    own = [one for one in os.listdir(tempfile.gettempdir()) if not one.startswith("torchinductor")]
    return [*own, *(f"descriptor {one}" for one in os.listdir("/proc/self/fd"))]


def shared_files(processes: list[int]) -> list[str]:
    """Those that Tutti or torch named after one of these processes. Other jobs have files there, too."""
    numbers = {str(process) for process in processes}
    named = [name for name in os.listdir("/dev/shm") if re.match("tutti|torch", name)]
    return [name for name in named if numbers & set(re.findall(r"\d+", name))]


def play(seed: int, store: str, margin: float) -> float:
    """One round. Gives the seconds that the others took."""
    chosen = random.Random(seed)
    ranks = chosen.choice([2, 3, 4])
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            be_rank(rank, ranks, store, seed, margin)
        children.append(child)
    victim = chosen.randrange(ranks)
    time.sleep(chosen.choice([0.05, 0.3, 1.0]) * chosen.random())
    os.kill(children[victim], signal.SIGKILL)
    began = time.monotonic()
    codes: dict[int, int] = {}
    limit = timeout_for(margin) + margin
    late_polls = 0  # where the whole machine has stood still, time alone shows nothing
    while len(codes) < ranks and late_polls < 1000:
        late_polls += time.monotonic() - began > limit
        time.sleep(0.002)
        for rank in set(range(ranks)) - set(codes):
            child, status = os.waitpid(children[rank], os.WNOHANG)
            if child != 0:
                codes[rank] = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - began
    for rank in set(range(ranks)) - set(codes):
        os.kill(children[rank], signal.SIGKILL)
        os.waitpid(children[rank], 0)
    expected = dict.fromkeys(range(ranks), TOLD) | {victim: -signal.SIGKILL}
    told = [Path(f"{store}.{rank}") for rank in range(ranks)]
    errors = {file.suffix: file.read_text()[:300] for file in told if file.exists()}
    left = shared_files(children)
    assert not left, f"round {seed} left {left}"
    assert codes == expected, (
        f"round {seed}: rank {victim} of {ranks} was killed; then {codes}; told {errors}"
    )
    for file in told:
        file.unlink(missing_ok=True)
    return took


def main(rounds: int, first: int, margin: float) -> None:
    load()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as directory:
        tempfile.tempdir = os.environ["TMPDIR"] = directory
        before = seen()
        times = []
        for seed in range(first, first + rounds):
            store = os.path.join(directory, str(seed))
            times.append(play(seed, store, margin))
            Path(store).unlink(missing_ok=True)
            left = sorted(set(seen()) - set(before))
            assert not left, f"round {seed} left {left}"
        times.sort()
        print(f"{rounds} rounds; the others had ended after {times[len(times) // 2]:.2f} s "
              f"(median), {times[-1]:.2f} s at most")  # fmt: skip


if __name__ == "__main__":
    defaults = ["", "0", "2"]
    rounds, first, margin = [*sys.argv[1:], *defaults[len(sys.argv) - 1 :]]
    main(int(rounds), int(first), float(margin))
