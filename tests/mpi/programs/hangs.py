"""Programs in Python that hang, each by one mistake of the last rank (see hangs.c)."""

import sys
from collections import deque
from itertools import repeat

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, last = world.rank, world.size - 1


def skipped_barrier():
    if rank != last:
        world.Barrier()
    world.Allreduce(bytearray(8), bytearray(8), MPI.BOR)  # mark skipped_barrier


def exception():
    """The interpreter ends MPI before it ends the process."""
    if rank == last:
        raise ValueError("a mistake")
    world.Barrier()


def wrong_tag():
    if rank == 0:
        world.Send(bytearray(4), last, tag=1)
    if rank == last:
        world.Recv(bytearray(4), 0, tag=2)  # mark wrong_tag


def endless_loop():
    if rank == last:
        deque(repeat(0), maxlen=0)  # mark endless_loop


for _ in range(9):
    world.Barrier()
globals()[sys.argv[1]]()
world.Barrier()
