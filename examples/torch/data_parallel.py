"""Data-parallel training of a small net by DistributedDataParallel: gloo and tutti.

    python examples/torch/data_parallel.py --ranks 2

Both backends train the same net on the same data; the program compares the weights, and prints
samples a second.
"""

import argparse
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
from torch import nn
from torch.nn.parallel import DistributedDataParallel

BATCH = 64


def train(group: dist.ProcessGroup, steps: int) -> tuple[list[torch.Tensor], float]:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    model = DistributedDataParallel(nn.Sequential(net, nn.Linear(256, 1)), process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.Generator().manual_seed(1 + dist.get_rank())
    began = time.perf_counter()
    for _ in range(steps):
        inputs = torch.randn(BATCH, 64, generator=data)
        loss = nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    taken = time.perf_counter() - began
    return [parameter.detach() for parameter in model.parameters()], taken


def main(rank: int, ranks: int, steps: int, store: str) -> None:
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // ranks))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    groups = {"gloo": dist.group.WORLD, "tutti": dist.new_group(backend="cpu:tutti")}
    weights = {}
    for name, group in groups.items():
        weights[name], taken = train(group, steps)
        if rank == 0:
            print(f"{name}: {ranks * BATCH * steps / taken:.0f} samples a second")
    for gloo, own in zip(weights["gloo"], weights["tutti"], strict=True):
        torch.testing.assert_close(gloo, own, rtol=1e-4, atol=1e-6)
    if rank == 0:
        print("same weights")
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "store")
        mp.spawn(main, (given.ranks, given.steps, file), nprocs=given.ranks)
