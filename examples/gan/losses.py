"""Labels and losses of the two networks.

The discriminator is to say 1 for real digits and 0 for made ones.  It has the
easier job, so it is hindered: its labels are softened to 0.9 and 0.1, and a
tenth of each batch carries the opposite label.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

SOFTEN = 0.1
SWAPPED = 0.1  #: share of a batch whose labels are swapped


class Labels(NamedTuple):
    """The targets of the discriminator, and the answers that the generator hopes for: float32 [batch, 1]."""

    real: NDArray[np.float32]
    fake: NDArray[np.float32]
    wanted: NDArray[np.float32]


def make_labels(batch_size: int) -> Labels:
    """The softened labels of a batch, with the first tenth of it swapped."""
    real = np.ones([batch_size, 1], dtype=np.float32) - SOFTEN
    fake = np.zeros([batch_size, 1], dtype=np.float32) + SOFTEN
    # The generator wants every digit it makes to be taken for a real one.
    wanted = real.copy()
    swapped = int(batch_size * SWAPPED)
    real[:swapped] = 0.0
    fake[:swapped] = 1.0
    return Labels(real, fake, wanted)


def compute_loss(logits: Any, labels: Any) -> Any:
    """Mean cross-entropy of logits and labels [batch, 1]: a float32 scalar."""
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
