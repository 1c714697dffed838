"""Times of collectives by others and by tutti, in turns: what torch.distributed's users wait for.

    python examples/torch/compare.py --ranks 2
    python examples/torch/compare.py --ranks 2 --kernels vllm=.../vllm/_C.abi3.so

The others are gloo and the libraries of shared-memory kernels that are given: `deepspeed=FILE`
(the extension deepspeed_shm_comm), `sglang=FILE` (sgl-kernel's common_ops) and `vllm=FILE` (_C),
each built by its own project. They serve floating-point numbers only, and vLLM's 2, 3, 4 or 8
ranks; what one does not serve has no row. All reductions are sums of zeros.

A row has the median of the ratios other / tutti over pairs of repetitions that follow each other,
with the quartiles of the ratios, and the median times of one call in microseconds, at rank 0.
Tutti's and gloo's calls are those of the process group, until wait() has returned.
"""

import argparse
import importlib.util
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)

SIZES = [8, 4096, 65536, 1 << 20, 32 << 20]  # bytes of the largest tensor of a rank
MOST_BYTES = 1 << 25  # moved by the calls of a repetition, but by at least one call
TYPES = {
    "float": torch.float32,
    "bfloat16": torch.bfloat16,
    "half": torch.float16,
    "int64": torch.int64,
}
FLOATS = {torch.float32, torch.bfloat16, torch.float16}

Calls = dict[str, Callable[[], object]]


class Tensors:
    """Tensors of one type: `whole` and `other` of a row's bytes, `part` of a rank's share."""

    def __init__(self, bytes_: int, dtype: torch.dtype) -> None:
        ranks = dist.get_world_size()
        count = max(bytes_ // dtype.itemsize // ranks, 1) * ranks
        self.whole, self.other = (torch.empty(count, dtype=dtype).fill_(0) for _ in range(2))
        self.part = torch.empty(count // ranks, dtype=dtype).fill_(0)


def by_group(group: dist.ProcessGroup, of: Tensors) -> Calls:
    whole, options = [of.whole], dist.AllreduceOptions()
    return {
        "allreduce": lambda: group.allreduce(whole, options).wait(),
        "allgather": lambda: group._allgather_base(of.whole, of.part).wait(),
        "reduce_scatter": lambda: group._reduce_scatter_base(of.part, of.whole).wait(),
        "alltoall": lambda: group.alltoall_base(of.other, of.whole, [], []).wait(),
    }


def deepspeed(library: Path) -> Callable[[Tensors], Calls]:
    spec = importlib.util.spec_from_file_location(library.name.split(".")[0], library)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.initialize(dist.get_world_size(), dist.get_rank())
    reduce = torch.ops.deepspeed.inference_all_reduce_
    return lambda of: {"allreduce": lambda: reduce(of.whole)} if of.whole.dtype in FLOATS else {}


def sglang(library: Path) -> Callable[[Tensors], Calls]:
    torch.ops.load_library(library)
    kernels, sum_ = torch.ops.sgl_kernel, int(dist.ReduceOp.SUM.value)
    kernels.initialize(dist.get_world_size(), dist.get_rank())

    def calls(of: Tensors) -> Calls:
        if of.whole.dtype not in {torch.float32, torch.bfloat16}:
            return {}
        return {
            "allreduce": lambda: kernels.shm_allreduce(of.whole, sum_),
            "allgather": lambda: kernels.shm_allgather(of.part, 0),
        }

    return calls


def vllm(library: Path) -> Callable[[Tensors], Calls]:
    torch.ops.load_library(library)
    kernels, name = torch.ops._C, f"tutti_compare_{os.environ['MASTER_PORT']}"
    handle = kernels.init_shm_manager(name, dist.get_world_size(), dist.get_rank())
    dist.barrier()
    kernels.join_shm_manager(handle, name)

    def calls(of: Tensors) -> Calls:
        if of.whole.dtype not in FLOATS:
            return {}
        return {
            "allreduce": lambda: kernels.shm_allreduce(handle, of.whole),
            "allgather": lambda: kernels.shm_all_gather(handle, of.part, of.whole),
        }

    return calls


KERNELS = {"deepspeed": deepspeed, "sglang": sglang, "vllm": vllm}


def microseconds(call: Callable[[], object], times: int) -> float:
    dist.barrier()
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times * 1e6


def compared(
    theirs: Callable[[], object], ours: Callable[[], object], bytes_: int, seconds: float
) -> dict[str, float]:
    times = max(1, min(50, MOST_BYTES // bytes_))
    probe = torch.tensor([microseconds(theirs, 2) + microseconds(ours, 2)])
    dist.all_reduce(probe, dist.ReduceOp.MAX)
    pairs = [
        (microseconds(theirs, times), microseconds(ours, times))
        for _ in range(max(5, min(40, int(seconds / (probe.item() * times * 1e-6)))))
    ]
    low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
    other, own = (statistics.median(column) for column in zip(*pairs, strict=True))
    return {"ratio": middle, "low": low, "high": high, "other_us": other, "tutti_us": own}


HEADER = (
    f"{'':10} {'':14} {'':8} {'bytes':>8} {'ratio':>6} {'quartiles':>13} {'other':>7} {'tutti':>7}"
)


def main(rank: int, given: argparse.Namespace, store: str) -> None:
    ranks = given.ranks
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // ranks))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    own = dist.new_group(backend="cpu:tutti")
    others = {name: KERNELS[name](library) for name, library in given.kernels}
    if not others:
        others["gloo"] = lambda of: by_group(dist.group.WORLD, of)
    rows = []
    if rank == 0:
        print(HEADER)
    for bytes_ in given.bytes:
        for type_ in given.types:
            of = Tensors(bytes_, TYPES[type_])
            ours = by_group(own, of)
            for other, calls in others.items():
                for name, theirs in calls(of).items():
                    row = compared(theirs, ours[name], bytes_, given.seconds)
                    rows.append(
                        {"other": other, "call": name, "type": type_, "bytes": bytes_} | row
                    )
                    if rank == 0:
                        print(
                            f"{other:10} {name:14} {type_:8} {bytes_:8} {row['ratio']:6.1f} "
                            f"{row['low']:5.1f} -{row['high']:6.1f} "
                            f"{row['other_us']:7.0f} {row['tutti_us']:7.0f}",
                            flush=True,
                        )
    if rank == 0 and not rows:
        print(f"{', '.join(others)} have no call for {', '.join(given.types)}")
    if rank == 0 and given.json:
        given.json.write_text(json.dumps(rows, indent=1))
    dist.destroy_process_group()


def kernels_of(text: str) -> tuple[str, Path]:
    name, equals, library = text.partition("=")
    if name not in KERNELS or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=FILE with {', '.join(KERNELS)}")
    if not Path(library).is_file():
        raise argparse.ArgumentTypeError(f"there is no file '{library}'")
    return name, Path(library).resolve()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
    parser.add_argument("--bytes", type=int, nargs="+", default=SIZES, help="of a rank's tensor")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=["float", "bfloat16"])
    parser.add_argument("--json", type=Path, help="a file for the rows")
    parser.add_argument(
        "--kernels",
        type=kernels_of,
        action="append",
        default=[],
        metavar="NAME=FILE",
        help=f"compare with these and not with gloo; NAME is one of {', '.join(KERNELS)}",
    )
    given = parser.parse_args()
    if given.json and not given.json.resolve().parent.is_dir():
        parser.error(f"--json: there is no directory '{given.json.resolve().parent}'")
    # The kernels name their memory by these, and deepspeed's and sglang's leave it behind.
    port = str(20000 + os.getpid() % 10000)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "LOCAL_SIZE": str(given.ranks)}
    try:
        with tempfile.TemporaryDirectory() as directory:
            mp.spawn(main, (given, os.path.join(directory, "store")), nprocs=given.ranks)
    finally:
        for file in Path("/dev/shm").glob(f"*_{port}_*"):
            file.unlink()
