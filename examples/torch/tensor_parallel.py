"""One layer of a transformer, its weights split over ranks: gloo and tutti.

    python examples/torch/tensor_parallel.py --ranks 2

Each rank has a share of the heads and of the hidden units, and computes a partial result. Two
allreduces for each token make the whole of them, as in tensor-parallel inference. Weights are
random. The program compares the answers of both backends and prints tokens a second.
"""

import argparse
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
import tutti.torch  # noqa: F401 (registers the backend)
from torch import Tensor

WIDTH, HEADS, HIDDEN = 512, 8, 2048


class Layer:
    """This rank's share of the weights."""

    def __init__(self, group: dist.ProcessGroup):
        self.group = group
        rank, ranks = dist.get_rank(), dist.get_world_size()
        generator = torch.Generator().manual_seed(0)

        def share(rows: int, columns: int, dimension: int) -> Tensor:
            whole = torch.randn(rows, columns, generator=generator) / columns**0.5
            return whole.chunk(ranks, dimension)[rank].contiguous()

        self.query, self.key, self.value = (share(WIDTH, WIDTH, 0) for _ in range(3))
        self.out = share(WIDTH, WIDTH, 1)
        self.up, self.down = share(HIDDEN, WIDTH, 0), share(WIDTH, HIDDEN, 1)
        self.heads = HEADS // ranks
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def step(self, token: Tensor) -> Tensor:
        """One token, which attends to all tokens before it."""
        normal = F.layer_norm(token, (WIDTH,))
        query = (self.query @ normal).view(self.heads, 1, -1)
        self.keys.append((self.key @ normal).view(self.heads, 1, -1))
        self.values.append((self.value @ normal).view(self.heads, 1, -1))
        seen = F.scaled_dot_product_attention(
            query, torch.cat(self.keys, 1), torch.cat(self.values, 1)
        )
        partial = self.out @ seen.reshape(-1)
        dist.all_reduce(partial, group=self.group)
        token = token + partial
        partial = self.down @ F.gelu(self.up @ F.layer_norm(token, (WIDTH,)))
        dist.all_reduce(partial, group=self.group)
        return token + partial


def main(rank: int, ranks: int, tokens: int, store: str) -> None:
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // ranks))
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    groups = {"gloo": dist.group.WORLD, "tutti": dist.new_group(backend="cpu:tutti")}
    answers = {}
    with torch.no_grad():
        for name, group in groups.items():
            layer, token = Layer(group), torch.ones(WIDTH)
            began = time.perf_counter()
            for _ in range(tokens):
                token = layer.step(token)
            taken = time.perf_counter() - began
            answers[name] = token
            if rank == 0:
                print(f"{name}: {tokens / taken:.0f} tokens a second through one layer")
    torch.testing.assert_close(answers["gloo"], answers["tutti"], rtol=1e-4, atol=1e-4)
    if rank == 0:
        print("same answers")
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", type=int, default=2, help="1, 2, 4 or 8")
    parser.add_argument("--tokens", type=int, default=100)
    given = parser.parse_args()
    if HEADS % given.ranks != 0:
        parser.error(f"{HEADS} heads do not split over {given.ranks} ranks")
    with tempfile.TemporaryDirectory() as directory:
        file = os.path.join(directory, "store")
        mp.spawn(main, (given.ranks, given.tokens, file), nprocs=given.ranks)
