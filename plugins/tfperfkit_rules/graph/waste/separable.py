"""GRF033: a convolution with a whole kernel that is the product of a column and a row."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found


def separable(evidence: Evidence) -> Iterator[Finding]:
    """GRF033, by what the kernel's numbers were when the function was traced, or how it is made."""
    for part in found(evidence, "separable"):
        figures = part.waste.figures
        height, width, channels = (round(figures[name]) for name in ("height", "width", "channels"))
        which = "Convolutions take up to" if len(part.waste.operations) > 1 else "A convolution takes"
        row = "tf.nn.conv2d(…, row, 1, 'SAME')" if channels == 1 else "tf.nn.depthwise_conv2d(…) for each channel"
        yield finding(
            evidence,
            part,
            codes.SEPARABLE_KERNEL,
            f"{which} {height} × {width} numbers for each result, where {height} + {width} would do",
            "Convolve with a column, then with a row: column = kernel[:, j:j+1], row = kernel[i:i+1] / kernel[i, j], "
            "where i, j is the place of the largest number; tf.nn.conv2d(x, column, 1, 'SAME'), then of that "
            f"{row}. Of a Gaussian both are its one-dimensional form.",
            "The kernel is the product of the two, as a Gaussian's and a mean's are. Results differ by rounding.",
            count("numbers of the largest kernel for a result", height * width),
            count("numbers of the column and the row", height + width),
            count("such convolutions", len(part.waste.operations)),
        )
