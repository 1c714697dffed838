"""torch.distributed.tensor on the backend: distributed_tensors.py RANKS.

The answers are those that one rank has, which each rank computes by itself.
"""

import faulthandler
import itertools
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import tutti.torch  # noqa: F401 (registers the backend)
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import (
    Partial,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
)
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.testing import assert_close

LIMIT = 120  # seconds of a rank; then its threads are printed
ROWS, COLUMNS = 8, 7  # parts of columns differ in length


def redistributed(mesh: DeviceMesh) -> None:
    """From each placement to each other; a partial sum has its terms on the ranks."""
    whole = torch.randn(ROWS, COLUMNS)
    kinds: list[Placement] = [Replicate(), Shard(0), Shard(1)]
    all_placements = list(itertools.product(kinds, repeat=mesh.ndim))
    for before, after in itertools.product(all_placements, repeat=2):
        tensor = distribute_tensor(whole, mesh, before)
        assert torch.equal(tensor.redistribute(mesh, after).full_tensor(), whole), (before, after)
    # On the mesh's last dimension the sum over rows has a term on each rank.
    terms = distribute_tensor(whole, mesh, [*[Replicate()] * (mesh.ndim - 1), Shard(0)]).sum(0)
    assert isinstance(terms.placements[-1], Partial)
    for kind in (Replicate(), Shard(0)):
        placements = [*[Replicate()] * (mesh.ndim - 1), kind]
        assert_close(terms.redistribute(mesh, placements).full_tensor(), whole.sum(0))


def multiplied(mesh: DeviceMesh) -> None:
    left, right = torch.randn(ROWS, COLUMNS), torch.randn(COLUMNS, ROWS)
    kinds: list[Placement] = [Replicate(), Shard(0), Shard(1)]
    # On a grid the rows of the left matrix are split first.
    outer_left: list[Placement] = [Shard(0)] * (mesh.ndim - 1)
    outer_right: list[Placement] = [Replicate()] * (mesh.ndim - 1)
    for a, b in itertools.product(kinds, repeat=2):
        lefts = distribute_tensor(left, mesh, [*outer_left, a]).requires_grad_()
        rights = distribute_tensor(right, mesh, [*outer_right, b]).requires_grad_()
        product = lefts @ rights
        assert_close(product.full_tensor(), left @ right)
        (product * product).sum().backward()
        assert lefts.grad is not None and rights.grad is not None
        assert_close(lefts.grad.full_tensor(), 2 * left @ right @ right.t())
        assert_close(rights.grad.full_tensor(), 2 * left.t() @ left @ right)


def split_layers(mesh: DeviceMesh) -> None:
    """Two linear layers, the first split by columns and the second by rows, and their training."""

    def net() -> torch.nn.Module:
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.GELU(), torch.nn.Linear(16, 3))

    alone, split = (
        net(),
        parallelize_module(net(), mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()}),
    )
    for model in (alone, split):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            optimizer.zero_grad()
            model(torch.full((4, 6), 0.1 * step)).pow(2).mean().backward()
            optimizer.step()
    for one, other in zip(alone.parameters(), split.parameters(), strict=True):
        assert_close(other.full_tensor(), one)


def main(rank: int, ranks: int, store: str) -> None:
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    dist.init_process_group("cpu:tutti", init_method=f"file://{store}", rank=rank, world_size=ranks)
    torch.manual_seed(0)
    line = init_device_mesh("cpu", (ranks,))
    grid = init_device_mesh("cpu", (2, ranks // 2), mesh_dim_names=("rows", "columns"))
    for mesh in (line, grid):
        redistributed(mesh)
        multiplied(mesh)
    split_layers(line)
    split_layers(grid["columns"])
    print(f"rank {rank} of {ranks} passed", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        count = int(sys.argv[1])
        mp.spawn(main, (count, os.path.join(directory, "store")), nprocs=count)
