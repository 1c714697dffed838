"""The arithmetic of `tutti bench`."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tutti.bench.statistics import T_95, Ratio, compare, geometric_mean, ratio_of_logs, t_quantile

times = st.floats(min_value=1e-3, max_value=1e6)


def test_t_quantiles():
    assert t_quantile(1) == 12.706
    assert t_quantile(9) == 2.262
    assert t_quantile(30) == 2.042
    # The values are from published tables.
    assert t_quantile(60) == pytest.approx(2.000, abs=2e-3)
    assert t_quantile(120) == pytest.approx(1.980, abs=1e-3)
    with pytest.raises(ValueError):
        t_quantile(0)


def probability_below(t: float, degrees: int) -> float:
    """Of Student's distribution, by Simpson's rule. With x = sqrt(degrees) tan(angle) the density becomes a power of
    the cosine."""
    end, parts = math.atan(t / math.sqrt(degrees)), 2000
    heights = [math.cos(end * k / parts) ** (degrees - 1) for k in range(parts + 1)]
    area = heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
    scale = math.gamma((degrees + 1) / 2) / (math.sqrt(math.pi) * math.gamma(degrees / 2))
    return 0.5 + scale * area * end / parts / 3


def test_the_integral_of_students_density():
    # With one degree of freedom it is Cauchy's distribution, with two there is a closed form.
    assert probability_below(3.0, 1) == pytest.approx(0.5 + math.atan(3.0) / math.pi, abs=1e-12)
    assert probability_below(3.0, 2) == pytest.approx(0.5 + 1.5 / math.sqrt(11), abs=1e-12)


@pytest.mark.parametrize("degrees", range(1, len(T_95) + 1))
def test_the_table_of_quantiles_is_that_of_students_distribution(degrees):
    """Each of its numbers is the quantile, rounded to three decimals."""
    t = t_quantile(degrees)
    assert probability_below(t - 0.00051, degrees) < 0.975 < probability_below(t + 0.00051, degrees)


@pytest.mark.parametrize("degrees", [31, 40, 60, 100, 200])
def test_quantiles_beyond_the_table_are_as_good(degrees):
    t = t_quantile(degrees)
    assert probability_below(t - 0.004, degrees) < 0.975 < probability_below(t + 0.004, degrees)


def test_compare_by_hand():
    # The ratios are 2 and 8. The mean of the logarithms is log 4, their standard deviation log 4 /
    # sqrt 2, and the standard error of the mean log 2.
    ratio = compare([4.0, 8.0], [2.0, 1.0])
    assert ratio.value == pytest.approx(4.0)
    assert ratio.low == pytest.approx(4.0 * 2**-12.706)
    assert ratio.high == pytest.approx(4.0 * 2**12.706)


def test_one_repetition_has_no_interval():
    assert compare([3.0], [2.0]) == Ratio(pytest.approx(1.5), None, None)
    assert not compare([1.0], [100.0]).slower


def test_unequal_repetitions_are_refused():
    with pytest.raises(ValueError):
        compare([1.0, 2.0], [1.0])
    with pytest.raises(ValueError):
        ratio_of_logs([])


@given(st.lists(st.tuples(times, times), min_size=2, max_size=12))
def test_the_interval_contains_the_value_and_swapping_inverts_it(pairs):
    base, other = zip(*pairs, strict=True)
    ratio, turned = compare(base, other), compare(other, base)
    assert ratio.low <= ratio.value * (1 + 1e-12)
    assert ratio.value <= ratio.high * (1 + 1e-12)
    assert math.log(turned.value) == pytest.approx(-math.log(ratio.value), abs=1e-9)


@given(
    st.lists(st.tuples(times, times), min_size=2, max_size=12),
    st.floats(min_value=0.1, max_value=10),
)
def test_slowing_both_variants_of_a_repetition_changes_nothing(pairs, factor):
    base, other = zip(*pairs, strict=True)
    drift = [factor if k % 2 else 1.0 for k in range(len(base))]
    drifted = compare([b * d for b, d in zip(base, drift)], [o * d for o, d in zip(other, drift)])
    assert math.log(drifted.value) == pytest.approx(math.log(compare(base, other).value), abs=1e-9)


def test_slower_needs_the_whole_interval_below_the_border():
    assert Ratio(0.90, 0.87, 0.93).slower
    assert not Ratio(0.90, 0.80, 0.96).slower


def test_geometric_mean():
    cells = [([2.0, 2.0], [1.0, 1.0]), ([8.0, 8.0], [1.0, 1.0])]
    mean = geometric_mean(cells)
    assert mean.value == pytest.approx(4.0)
    assert (mean.low, mean.high) == (pytest.approx(4.0), pytest.approx(4.0))


def test_intervals_contain_the_true_value_95_times_of_100():
    chance = random.Random(7)
    held = 0
    for _ in range(2000):
        base = [1.3 * math.exp(chance.gauss(0, 0.05)) for _ in range(10)]
        other = [math.exp(chance.gauss(0, 0.05)) for _ in range(10)]
        ratio = compare(base, other)
        held += ratio.low <= 1.3 <= ratio.high
    assert 0.935 < held / 2000 < 0.965
