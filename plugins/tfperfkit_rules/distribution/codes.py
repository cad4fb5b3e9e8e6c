"""The codes of findings about distribution. A code is stable and never reused; each has a page
``docs/findings/<code>.md``."""

from __future__ import annotations

GATHERED = "DST001"
MADE_DENSE = "DST002"
SMALL_EXCHANGES = "DST003"
ONE_DEVICE = "DST004"
DIVIDED = "DST005"
UNEVEN = "DST006"
UNDIVIDED = "DST007"

#: The meaning of each code, without numbers or names: the heading of its page.
TITLES = {
    GATHERED: "Sparse embedding gradients are all-gathered and exceed the table",
    MADE_DENSE: "Embedding gradient is all-reduced as large as its table",
    SMALL_EXCHANGES: "Replicas all-reduce many small tensors one by one",
    ONE_DEVICE: "MirroredStrategy trains on a single device",
    DIVIDED: "Batch is too small to divide among the replicas",
    UNEVEN: "ParameterServerStrategy puts most variables on one server",
    UNDIVIDED: "Dataset is not sharded correctly among the workers",
}
