"""Writes an input of Quantum ESPRESSO's pw.x that needs no other file: silicon in its diamond
structure.

    .venv/bin/python bench/programs/silicon.py DIRECTORY [--atoms 2|8] [--cutoff RY] [--points N]

The pseudopotential is the analytic one of Goedecker, Teter and Hutter (Phys. Rev. B 54, 1703) for
silicon, in the local density approximation, with the parameters of Hartwigsen, Goedecker and Hutter
(Phys. Rev. B 58, 3641, table I), tabulated in the format UPF 2. With 2 atoms, 12 Ry and 4 points
on each side the total energy is -15.7991 Ry.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

CHARGE, LOCAL_RADIUS, LOCAL_FACTOR = 4, 0.44, -7.33610297
# Radius and coefficients for each angular momentum (Hartree atomic units).
PROJECTORS = {
    0: (0.42273813, [[5.90692831, -1.26189397], [-1.26189397, 3.25819622]]),
    1: (0.48427842, [[2.72701346]]),
}
RYDBERGS = 2  # in a Hartree

POINTS, FIRST, STEP, NUCLEUS = 1141, -7.0, 0.0125, 14.0  # the logarithmic mesh
PROJECTORS_END = 6.0  # Bohr radii

INPUT = """&control
 calculation='scf', prefix='silicon', outdir='{directory}/out', pseudo_dir='{directory}', disk_io='none'
/
&system
 ibrav={lattice}, celldm(1)=10.2, nat={atoms}, ntyp=1, ecutwfc={cutoff}, nbnd={bands}
/
&electrons
 conv_thr=1e-8
/
ATOMIC_SPECIES
Si 28.0855 Si.upf
ATOMIC_POSITIONS alat
{positions}
K_POINTS automatic
{points} {points} {points} 1 1 1
"""


def projector(radius: Values, momentum: int, which: int, width: float) -> Values:
    power = momentum + (4 * which - 1) / 2
    norm = math.sqrt(2) / (width**power * math.sqrt(math.gamma(power)))
    return norm * radius ** (momentum + 2 * (which - 1)) * np.exp(-0.5 * (radius / width) ** 2)


def table(name: str, values: Values, columns: int = 4, **attributes: object) -> str:
    words = {"type": "real", "size": values.size, "columns": columns, **attributes}
    head = " ".join(f'{key}="{value}"' for key, value in words.items())
    lines = [
        " ".join(f"{value:.12E}" for value in values[at : at + columns])
        for at in range(0, values.size, columns)
    ]
    return "\n".join([f"<{name} {head}>", *lines, f"</{name}>"])


def pseudopotential() -> str:
    radius = np.exp(FIRST + STEP * np.arange(POINTS)) / NUCLEUS
    local = (
        -CHARGE / radius * np.array([math.erf(r / (math.sqrt(2) * LOCAL_RADIUS)) for r in radius])
    )
    local += LOCAL_FACTOR * np.exp(-0.5 * (radius / LOCAL_RADIUS) ** 2)
    density = 16 * radius**2 * np.exp(-((radius / 1.4) ** 2)) / (math.sqrt(math.pi) * 1.4**3)
    end = int(np.searchsorted(radius, PROJECTORS_END))
    betas, factors = [], np.zeros((3, 3))
    for momentum, (width, coefficients) in PROJECTORS.items():
        first = len(betas)
        for which in range(len(coefficients)):
            number = len(betas) + 1
            betas.append(
                table(
                    f"PP_BETA.{number}",
                    radius * projector(radius, momentum, which + 1, width),
                    index=number,
                    angular_momentum=momentum,
                    cutoff_radius_index=end,
                    cutoff_radius=PROJECTORS_END,
                )
            )
        factors[first : len(betas), first : len(betas)] = RYDBERGS * np.array(coefficients)
    orbitals = []
    for number, (label, momentum, width) in enumerate((("3S", 0, 1.8), ("3P", 1, 2.0)), start=1):
        orbital = radius ** (momentum + 1) * np.exp(-((radius / width) ** 2))
        orbital /= math.sqrt(float(np.sum(orbital**2 * radius * STEP)))
        orbitals.append(
            table(
                f"PP_CHI.{number}",
                orbital,
                index=number,
                label=label,
                l=momentum,
                occupation=2.0,
                n=3,
            )
        )
    false = "is_ultrasoft is_paw is_coulomb has_so has_wfc has_gipaw paw_as_gipaw core_correction"
    header = " ".join(f'{name}="F"' for name in false.split())
    return (
        "\n".join(
            [
                '<UPF version="2.0.1">',
                "<PP_INFO>Goedecker, Teter, Hutter: silicon</PP_INFO>",
                f'<PP_HEADER generated="analytic" element="Si" pseudo_type="NC" relativistic="scalar" {header} functional="SLA PZ NOGX NOGC" '
                f'z_valence="{CHARGE}.0" l_max="1" l_local="-3" mesh_size="{POINTS}" number_of_wfc="2" number_of_proj="{len(betas)}"/>',
                f'<PP_MESH dx="{STEP}" mesh="{POINTS}" xmin="{FIRST}" rmax="{radius[-1]}" zmesh="{NUCLEUS}">',
                table("PP_R", radius),
                table("PP_RAB", radius * STEP),
                "</PP_MESH>",
                table("PP_LOCAL", RYDBERGS * local),
                "<PP_NONLOCAL>",
                *betas,
                table("PP_DIJ", factors.flatten(), columns=3),
                "</PP_NONLOCAL>",
                "<PP_PSWFC>",
                *orbitals,
                "</PP_PSWFC>",
                table("PP_RHOATOM", density),
                "</UPF>",
            ]
        )
        + "\n"
    )


def write_input(directory: Path, atoms: int, cutoff: float, points: int) -> Path:
    """Writes the input for the primitive cell of 2 atoms or the cube of 8; returns its path."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "Si.upf").write_text(pseudopotential())
    corners = (
        [(0.0, 0.0, 0.0)]
        if atoms == 2
        else [(0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)]
    )
    places = [tuple(x + shift for x in corner) for corner in corners for shift in (0.0, 0.25)]
    text = INPUT.format(
        directory=directory.resolve(),
        lattice=2 if atoms == 2 else 1,
        atoms=atoms,
        cutoff=cutoff,
        bands=4 * atoms,
        points=points,
        positions="\n".join("Si " + " ".join(map(str, place)) for place in places),
    )
    written = directory / "silicon.in"
    written.write_text(text)
    return written


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--atoms", type=int, choices=(2, 8), default=2)
    parser.add_argument(
        "--cutoff", type=float, default=12.0, help="cutoff of plane waves, in Rydberg"
    )
    parser.add_argument(
        "--points", type=int, default=4, help="points of the Brillouin zone on each side"
    )
    options = parser.parse_args()
    print(write_input(options.directory, options.atoms, options.cutoff, options.points))
    return 0


if __name__ == "__main__":
    sys.exit(main())
