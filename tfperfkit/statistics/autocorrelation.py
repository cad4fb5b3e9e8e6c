"""How far the times of neighbouring steps resemble each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

#: Values that differ by less than this share of themselves do not differ.
_ROUNDING = 1e-9


def autocorrelation_time(values: numpy.ndarray) -> float:
    """Of how many steps one carries as much as a single independent one: 1 + 2 times the sum of the autocorrelations.

    Geyer's initial positive sequence (Statistical Science 7, 1992, section 3.3): sums of neighbouring pairs of
    autocorrelations are added as long as they are positive. At least 1.
    """
    import numpy

    count = len(values)
    centred = values - values.mean()
    variance = float(centred @ centred)
    if count < 4 or variance <= count * (_ROUNDING * float(numpy.abs(values).max())) ** 2:
        return 1.0
    # Computed by FFT, padded so that the end does not meet the beginning.
    spectrum = numpy.fft.rfft(centred, 2 * count)
    correlations = numpy.fft.irfft(spectrum * spectrum.conjugate(), 2 * count)[:count] / variance
    time = -1.0
    for lag in range(0, count - 1, 2):
        pair = float(correlations[lag] + correlations[lag + 1])
        if pair <= 0:
            break
        time += 2 * pair
    return max(time, 1.0)
