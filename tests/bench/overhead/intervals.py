# SPDX-License-Identifier: Apache-2.0
"""Medians with intervals, by order statistics: no assumption about the distribution of times."""
import math
from statistics import median


def median_interval(values, confidence=0.95):
    """(median, low, high, coverage): the narrowest pair of order statistics, equally far from both ends, that holds the
    median with at least `confidence`. With few values it is all of them, and `coverage` is their confidence."""
    ordered = sorted(values)
    count = len(ordered)

    def coverage(rank):  # from the rank-th smallest to the rank-th largest value
        return 1 - 2 * sum(math.comb(count, i) for i in range(rank)) / 2 ** count

    rank = 1
    while 2 * (rank + 1) <= count and coverage(rank + 1) >= confidence:
        rank += 1
    return median(ordered), ordered[rank - 1], ordered[count - rank], max(0.0, coverage(rank))
