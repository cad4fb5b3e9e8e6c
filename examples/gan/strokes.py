"""The pen strokes of the ten digits, as splines through a few points.

A *shape* is one way of writing a digit: points in a unit box (x to the right,
y downwards) and strokes, each a list of indexes into these points.  Most
digits have more than one shape, as handwriting has: a one with or without its
flag, a seven with or without its bar, a four open or closed at the top.

A point on a Catmull-Rom spline is a weighted sum of the spline's points, so
the pen's path is one matrix product away from the points: ``path = weights @
points``.  The weights do not change when the points are moved, which is what
lets ``digits.py`` draw thousands of distorted copies of a shape at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Strokes = tuple[tuple[int, ...], ...]

#: Distance between two dabs of the pen, in units of the shape's box.  One
#: pixel of a digit 20 pixels high is 0.05, so dabs blur into a smooth line.
DAB_SPACING = 0.03


class Shape(NamedTuple):
    """One way of writing one digit."""

    digit: int
    points: tuple[tuple[float, float], ...]
    strokes: Strokes


#: A stroke whose first index is also its last is a closed loop.
SHAPES: tuple[Shape, ...] = (
    Shape(
        0,
        ((0.5, 0.0), (0.2, 0.2), (0.14, 0.55), (0.3, 0.93), (0.55, 1.0), (0.82, 0.75), (0.84, 0.35), (0.7, 0.08)),
        ((0, 1, 2, 3, 4, 5, 6, 7, 0),),
    ),
    Shape(1, ((0.53, 0.0), (0.51, 0.35), (0.49, 0.7), (0.47, 1.0)), ((0, 1, 2, 3),)),
    Shape(1, ((0.32, 0.24), (0.54, 0.0), (0.52, 0.5), (0.5, 1.0)), ((0, 1), (1, 2, 3))),
    Shape(
        2,
        ((0.18, 0.27), (0.33, 0.05), (0.62, 0.02), (0.78, 0.27), (0.58, 0.6), (0.17, 0.97), (0.5, 0.95), (0.86, 0.96)),
        ((0, 1, 2, 3, 4, 5), (5, 6, 7)),
    ),
    Shape(
        3,
        ((0.2, 0.13), (0.48, 0.0), (0.76, 0.2), (0.42, 0.46), (0.82, 0.7), (0.55, 0.98), (0.17, 0.88)),
        ((0, 1, 2, 3), (3, 4, 5, 6)),
    ),
    Shape(4, ((0.26, 0.03), (0.17, 0.56), (0.86, 0.53), (0.7, 0.08), (0.64, 1.0)), ((0, 1), (1, 2), (3, 4))),
    Shape(4, ((0.63, 0.0), (0.12, 0.64), (0.88, 0.62), (0.61, 1.0)), ((0, 1), (1, 2), (0, 3))),
    Shape(
        5,
        ((0.8, 0.03), (0.3, 0.03), (0.24, 0.43), (0.55, 0.36), (0.8, 0.65), (0.58, 0.97), (0.17, 0.9)),
        ((0, 1), (1, 2), (2, 3, 4, 5, 6)),
    ),
    Shape(
        6,
        ((0.68, 0.0), (0.36, 0.3), (0.2, 0.7), (0.45, 0.99), (0.77, 0.77), (0.55, 0.52), (0.22, 0.72)),
        ((0, 1, 2, 3, 4, 5, 6),),
    ),
    Shape(7, ((0.15, 0.06), (0.82, 0.03), (0.58, 0.48), (0.42, 1.0)), ((0, 1), (1, 2, 3))),
    Shape(
        7,
        ((0.15, 0.06), (0.82, 0.03), (0.58, 0.48), (0.42, 1.0), (0.33, 0.53), (0.77, 0.48)),
        ((0, 1), (1, 2, 3), (4, 5)),
    ),
    Shape(
        8,
        ((0.5, 0.47), (0.22, 0.24), (0.5, 0.0), (0.78, 0.22), (0.48, 0.48), (0.18, 0.77), (0.5, 1.0), (0.82, 0.75)),
        ((0, 1, 2, 3, 4, 5, 6, 7, 0),),
    ),
    Shape(
        9,
        ((0.77, 0.2), (0.48, 0.01), (0.2, 0.27), (0.42, 0.5), (0.76, 0.3), (0.73, 0.65), (0.56, 1.0)),
        ((0, 1, 2, 3, 4), (0, 4, 5, 6)),
    ),
)


def path_weights(shape: Shape) -> Array:
    """The matrix [dabs, points] that turns a shape's points into its pen path.

    Dabs are evenly spaced along the path of the undistorted shape, so that
    ink has the same density everywhere.
    """
    points = np.asarray(shape.points, dtype=np.float64)
    return np.concatenate([_stroke_weights(stroke, points) for stroke in shape.strokes]).astype(np.float32)


def _stroke_weights(stroke: tuple[int, ...], points: Array) -> Array:
    """The rows of ``path_weights`` that one stroke contributes."""
    fine = _spline_weights(stroke, len(points), per_piece=64)
    path = fine @ points
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    dabs = max(2, round(float(travelled[-1]) / DAB_SPACING))
    # The fine row nearest to each evenly spaced distance along the stroke.
    return fine[np.searchsorted(travelled, np.linspace(0.0, travelled[-1] * 0.999, dabs))]


def _spline_weights(stroke: tuple[int, ...], n_points: int, per_piece: int) -> Array:
    """Catmull-Rom weights [pieces * per_piece, n_points] along a stroke."""
    closed = stroke[0] == stroke[-1]
    # An open stroke repeats its ends; a loop takes its neighbours from around the loop.
    before, after = (stroke[-2], stroke[1]) if closed else (stroke[0], stroke[-1])
    knots = (before, *stroke, after)
    t = np.linspace(0.0, 1.0, per_piece, endpoint=False)
    basis = 0.5 * np.stack(
        [-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, -(t**2) + t**3], axis=1
    )
    weights = np.zeros((len(stroke) - 1, per_piece, n_points))
    for piece in range(len(stroke) - 1):
        for column in range(4):
            weights[piece, :, knots[piece + column]] += basis[:, column]
    return weights.reshape(-1, n_points)
