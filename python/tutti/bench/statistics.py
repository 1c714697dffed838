"""From the medians and means of repetitions to ratios with confidence intervals. Pure functions.

A ratio compares two variants repetition by repetition: repetition k ran both of them within a short time, so what the
machine did meanwhile touched both. The logarithms of these ratios are averaged, with Student's t for the interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

# Student's t for 95% (two-sided), by degrees of freedom from 1: NIST/SEMATECH e-Handbook of Statistical Methods,
# section 1.3.6.7.2, column 0.975. SciPy would compute these 30 numbers, but its wheel of 35 MB is twice as large as
# NumPy's, the largest that the package needs. A test integrates the density up to each of them.
T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
SLOWER_BELOW = 0.95
MODES_APART = 2.0  # neighbouring times whose factor is larger belong to two modes
WIDE = 4.0  # an interval from one to so many times as much: the modes are what made it


def t_quantile(degrees: int) -> float:
    """The quantile of 97.5%. Beyond the table it is the first term of the expansion around the normal quantile
    (Abramowitz and Stegun, 26.7.5)."""
    if degrees < 1:
        raise ValueError("a confidence interval needs two values")
    if degrees <= len(T_95):
        return T_95[degrees - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees)


@dataclass(frozen=True)
class Ratio:
    """How many times faster the second variant is, and the interval that holds it with 95% confidence.

    With one repetition there is no interval: low and high are None.
    """

    value: float
    low: float | None
    high: float | None

    @property
    def slower(self) -> bool:
        """Even the upper end says that the second variant is clearly slower."""
        return self.high is not None and self.high < SLOWER_BELOW

    @property
    def behind(self) -> bool:
        """The whole interval says that the second variant is slower, however little."""
        return self.high is not None and self.high < 1.0

    def wider(self, factor: float) -> bool:
        return self.low is not None and self.high is not None and self.high > factor * self.low


def ratio_of_logs(logs: Sequence[float]) -> Ratio:
    if not logs:
        raise ValueError("no values to compare")
    centre = fmean(logs)
    if len(logs) == 1:
        return Ratio(math.exp(centre), None, None)
    half = t_quantile(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(centre), math.exp(centre - half), math.exp(centre + half))


def log_ratios(base: Sequence[float], other: Sequence[float]) -> list[float]:
    """The logarithm of the ratio of each repetition; the two must have the same number of repetitions."""
    return [math.log(b / o) for b, o in zip(base, other, strict=True)]


def compare(base: Sequence[float], other: Sequence[float]) -> Ratio:
    return ratio_of_logs(log_ratios(base, other))


def geometric_mean(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Ratio:
    """The mean of the ratios of several cells, each (base, other) by repetition; the interval is over repetitions."""
    by_cell = [log_ratios(base, other) for base, other in pairs]
    return ratio_of_logs([fmean(repetition) for repetition in zip(*by_cell, strict=True)])


def has_two_modes(values: Sequence[float]) -> bool:
    """True if the times of the repetitions gather around two values, far from each other: then their median is either."""
    ordered = sorted(values)
    return any(after > MODES_APART * before for before, after in zip(ordered, ordered[1:]))


def centre(values: Sequence[float]) -> float:
    """One number for the repetitions of a cell."""
    return median(values)
