"""The sum over all ranks: mpiexec -n 4 tutti-run python hello_allreduce.py (needs mpi4py)."""

from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
mine, total = array("d", [world.rank + 1.0] * 4), array("d", [0.0] * 4)
for _ in range(10):
    world.Allreduce(mine, total)
if world.rank == 0:
    print(f"{world.size} ranks: the sum of 1 to {world.size} is {total[0]:.0f}")
