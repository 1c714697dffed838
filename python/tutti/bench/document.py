"""A benchmark's numbers as JSON: all measurements, and all numbers computed from them."""

import os
import platform
from dataclasses import asdict
from typing import Any

from tutti import __version__
from tutti.bench.bounds import bounds_json
from tutti.bench.conditions import conditions_json
from tutti.bench.measurements import Cell, Measurements, Samples
from tutti.bench.remarks import load_json
from tutti.bench.results import (
    Comparison,
    best_peers_json,
    compare_cells,
    means_json,
    nearness,
    pairs,
    summaries,
    typical,
)
from tutti.bench.roots import root_comparisons_json, root_json
from tutti.bench.states import states_json
from tutti.bench.statistics import centre
from tutti.bench.variants import Variant
from tutti.bench.ways import ways_json
from tutti.probes import sessions_are_groups
from tutti.rows import members

# Members of Settings in the documents.
SETTINGS = (
    "ranks", "collectives", "sizes", "repetitions", "dirty", "peer_settings", "bind", "budget_ms",
    "every_root", "mixed", "forms", "overlap", "faces", "load", "conditions",
)  # fmt: skip


def cell_json(cell: Cell, by_variant: dict[str, Samples]) -> dict[str, Any]:
    return cell.words | {
        "variants": {
            key: {
                "median_us": samples.median,
                "mean_us": samples.mean,
                "min_us": samples.least,
                "p95_us": samples.percentile_95,
            }
            | root_json(samples)
            | ({"start_us": samples.start} if samples.start else {})
            | ({"others_us": samples.others, "wait_us": samples.wait} if samples.wait else {})
            for key, samples in by_variant.items()
        }
    }


def comparison_json(base: Variant, other: Variant, comparison: Comparison) -> dict[str, Any]:
    return comparison.cell.words | {
        "base": base.key,
        "other": other.key,
        "base_median_us": centre(comparison.base.median),
        "other_median_us": centre(comparison.other.median),
        "ratio_of_medians": asdict(comparison.by_median),
        "ratio_of_means": asdict(comparison.by_mean),
        "two_modes": dict(zip(("base", "other"), comparison.modes, strict=True)),
        "slower": comparison.ratio.slower,
    }


def comparisons_json(measurements: Measurements, ranks: int) -> list[dict[str, Any]]:
    return [
        comparison_json(base, other, comparison)
        for base, other in pairs(measurements, ranks)
        for comparison in compare_cells(measurements, ranks, base, other)
    ]


def as_json(measurements: Measurements) -> dict[str, Any]:
    settings = measurements.settings
    variants = {v.key: v for ranks in settings.ranks for v in settings.variants(ranks)}
    return {
        "format": "tutti-bench 1",
        "tutti": __version__,
        "machine": machine_json(settings.cores) | {"sessions_are_groups": sessions_are_groups()},
        "settings": members(settings, *SETTINGS)
        | {"kinds": settings.kinds or None, "cold_bytes": settings.cold, "seed": measurements.seed},
        "variants": {
            key: {
                "mpi": v.mpi.name,
                "version": v.mpi.version,
                "library": measurements.libraries.get(key),
                **members(v, "label", "setting", "tutti"),
            }
            for key, v in variants.items()
        },
        "flag_exchange_us": [
            {"ranks": ranks, "variant": key, "by_repetition": times}
            for (ranks, key), times in measurements.flags.items()
        ],
        "cells": [cell_json(cell, by_variant) for cell, by_variant in measurements.cells.items()],
        "left_out": [cell.size_words for cell in measurements.left_out],
        "comparisons": [
            entry for ranks in settings.ranks for entry in comparisons_json(measurements, ranks)
        ],
        "root_comparisons": [
            entry
            for ranks in settings.ranks
            for entry in root_comparisons_json(measurements, ranks)
        ],
        "geometric_means": [
            {"ranks": row.ranks, "base": row.base.key, "other": row.other.key}
            | means_json(row.means)
            | {"means": asdict(row.means.by_mean)}
            for row in summaries(measurements)
        ],
        "best_peers": best_peers_json(measurements),
        "conditions": conditions_json(measurements),
        "states": states_json(measurements),
        "load": load_json(measurements),
        "bounds": bounds_json(measurements),
        "limits": typical(measurements.limits),
        "times_flag_exchange": [
            {
                "collective": near.cell.collective,
                "bytes": near.cell.bytes,
                "variant": near.variant.key,
            }
            | asdict(near.ratio)
            for near in nearness(measurements)
        ],
    } | ways_json(measurements)


def machine_json(cores: int) -> dict[str, Any]:
    return {"processor": processor_name(), "cores": cores, "system": platform.platform()}


def variables_of_user() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("TUTTI_")}


def processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or os.uname().machine
