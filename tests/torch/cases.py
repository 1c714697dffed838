"""The ranks of tests/torch: cases.py RANKS. Each case runs on gloo and on tutti, in one start.

Results of moved data and of whole numbers have the same bits as gloo's. Sums of floating-point
numbers are within the rounding of gloo's, and have the same bits at all ranks. The cases are in
reductions.py, movements.py and works.py.
"""

import faulthandler
import os
import sys
import tempfile
import time

import movements
import reductions
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
import works
from values import Groups

LIMIT = 120  # seconds of a rank; then its threads are printed


def main(rank: int, ranks: int, store: str, left_out: tuple[str, ...] = ()) -> None:
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    groups: Groups = {"gloo": dist.group.WORLD}
    cases = [
        (name, case)
        for module in (reductions, movements, works)
        for name, case in vars(module).items()
        if name.startswith("test_") and name not in left_out
    ]
    own = dist.new_group(backend="cpu:tutti")
    groups["tutti"] = own
    second = dist.new_group(backend="cpu:tutti")
    for name, case in cases:
        given = {**groups, "second": second} if name == "test_asynchronous" else groups
        began = time.monotonic()
        case(given)
        if rank == 0:
            print(f"{name} passed on {ranks} ranks in {time.monotonic() - began:.2f} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        count = int(sys.argv[1])
        mp.spawn(main, (count, os.path.join(directory, "store")), nprocs=count)
