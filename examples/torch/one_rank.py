"""Times of the ways to an allreduce, beside the C API's call: python examples/torch/one_rank.py

A group of one rank waits for nobody, so the times are those of the code alone. Each line has the
least time of a call of 8 bytes in microseconds, among 60 runs of 2,000 calls.
"""

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import tutti.torch

PACKAGE = Path(tutti.torch.__file__).resolve().parents[1]
REPETITIONS, CALLS = 60, 2000


def by_c(directory: Path) -> float:
    """Microseconds of tutti_iallreduce and tutti_request_wait."""
    program, store = directory / "one_rank", directory / "team"
    store.mkdir()
    library = [f"-L{PACKAGE / 'lib'}", f"-Wl,-rpath,{PACKAGE / 'lib'}", "-ltutti"]
    source = Path(__file__).with_suffix(".c")
    command = ["cc", "-O2", f"-I{PACKAGE / 'include'}", "-o", str(program), str(source), *library]
    subprocess.run(command, check=True)
    done = subprocess.run([program, store], check=True, capture_output=True, text=True)
    return float(done.stdout)


def microseconds(call: Callable[[], object]) -> float:
    times = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - began) / CALLS * 1e6)
    return min(times)


def main() -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        store = Path(name) / "store"
        dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=0, world_size=1)
        group = dist.group.WORLD
        assert group is not None
        backend, tensor = group._get_backend(torch.device("cpu")), torch.ones(2)
        tensors, options = [tensor], dist.AllreduceOptions()
        ways = {
            "backend.allreduce([tensor], options).wait()": lambda: backend.allreduce(
                tensors, options
            ).wait(),
            "pg.allreduce([tensor], options).wait()": lambda: group.allreduce(
                tensors, options
            ).wait(),
            "pg.allreduce(tensor).wait()": lambda: group.allreduce(tensor).wait(),
            "dist.all_reduce(tensor)": lambda: dist.all_reduce(tensor),
        }
        print(f"{'the C API':45} {by_c(Path(name)):6.2f}")
        for way, call in ways.items():
            print(f"{way:45} {microseconds(call):6.2f}")
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
