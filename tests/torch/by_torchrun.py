"""Started by torchrun: distributed tensors on a mesh of the backend."""

import torch
import torch.distributed as dist
import tutti.torch  # noqa: F401 (registers the backend)
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

torch.set_num_threads(1)
dist.init_process_group("cpu:tutti")
ranks = dist.get_world_size()
mesh = DeviceMesh("cpu", list(range(ranks)))
torch.manual_seed(0)
left, right = torch.randn(8, 6), torch.randn(6, 8)
rows = distribute_tensor(left, mesh, [Shard(0)])
columns = distribute_tensor(right, mesh, [Shard(1)])
inner = distribute_tensor(left, mesh, [Shard(1)]) @ distribute_tensor(right, mesh, [Shard(0)])
for product in (rows @ distribute_tensor(right, mesh, [Replicate()]), inner, rows @ columns):
    torch.testing.assert_close(product.full_tensor(), left @ right)
assert torch.equal(rows.redistribute(mesh, [Shard(1)]).full_tensor(), left)
torch.testing.assert_close(rows.sum().full_tensor(), left.sum())
print(f"rank {dist.get_rank()} of {ranks} passed", flush=True)
dist.destroy_process_group()
