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

#: What each code means, without numbers or names: the heading of its page.
TITLES = {
    GATHERED: "Gradients of single rows are gathered from all replicas, and are more than the table",
    MADE_DENSE: "The gradient of an embedding is exchanged as large as the table",
    SMALL_EXCHANGES: "Replicas exchange many small tensors one by one",
    ONE_DEVICE: "A distribution strategy has one device",
    DIVIDED: "A batch is divided among replicas, and each has little of it",
    UNEVEN: "One parameter server holds most of the variables",
    UNDIVIDED: "Workers do not divide the data among them as they should",
}
