"""A PETSc program for `tutti bench whole`: conjugate gradients on a square, repeated as in implicit time
steps.

    apt-get install python3-petsc4py
    PETSC_DIR=/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real mpirun -n 4 \\
      /usr/bin/python3 bench/programs/poisson.py [--points N] [--steps N] \\
      [options of PETSc, such as -ksp_type pipecg]

It solves (4.01 - neighbours) x = b on N times N points (default 64) with a preconditioner that
needs no message, `--steps` times (default 300). Each right-hand side is made from the solution
before. Each iteration makes three allreduces of 8 bytes and exchanges messages with neighbours: by
default 37,500 iterations and 112,500 allreduces by each rank. Rank 0 prints the number of
iterations, the norm of the last solution and the seconds of the steps. It runs with any MPI and
any Python that have petsc4py, and imports nothing of Tutti.
"""

import argparse
import sys


def positive(text: str) -> int:
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


parser = argparse.ArgumentParser(
    description="Solves systems by PETSc's conjugate gradients. Other options go to PETSc."
)
parser.add_argument("--points", type=positive, default=64, help="points on each side (64)")
parser.add_argument(
    "--steps",
    type=positive,
    default=300,
    help="number of systems to solve, one after another (300)",
)
options, of_petsc = parser.parse_known_args()
try:
    import petsc4py
except ImportError:
    parser.error(
        f"{sys.executable} has no petsc4py: apt-get install python3-petsc4py, set PETSC_DIR and "
        "use /usr/bin/python3"
    )
petsc4py.init([sys.argv[0], *of_petsc])

from petsc4py import PETSc  # noqa: E402: after init

grid = PETSc.DMDA().create([options.points, options.points], stencil_width=1)
matrix = grid.createMatrix()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(first_x, end_x), (first_y, end_y) = grid.getRanges()
for y in range(first_y, end_y):
    for x in range(first_x, end_x):
        row.index = (x, y)
        for to_x, to_y, value in (
            (0, 0, 4.01),
            (-1, 0, -1.0),
            (1, 0, -1.0),
            (0, -1, -1.0),
            (0, 1, -1.0),
        ):
            if 0 <= x + to_x < options.points and 0 <= y + to_y < options.points:
                column.index = (x + to_x, y + to_y)
                matrix.setValueStencil(row, column, value)
matrix.assemble()

solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10)
solver.setFromOptions()

right, solution = grid.createGlobalVec(), grid.createGlobalVec()
right.set(1.0)
iterations = 0
begin = PETSc.Log.getTime()
for _ in range(options.steps):
    solution.set(0.0)
    solver.solve(right, solution)
    iterations += solver.getIterationNumber()
    right.array[:] = 1 + solution.array / 1e4
seconds = PETSc.Log.getTime() - begin
PETSc.Sys.Print(f"{iterations} iterations, norm {solution.norm():.9g}, {seconds:.4f} s")
