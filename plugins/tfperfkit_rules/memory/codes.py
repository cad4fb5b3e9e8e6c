"""The titles of the memory findings. A code is stable and never reused; each has a page ``docs/findings/<code>.md``."""

from __future__ import annotations

#: The title of each code, which is the heading of its page. A finding fills in numbers and the user's names.
TITLES = {
    "MEM001": "Memory grows because a container is never emptied",
    "MEM002": "Graph grows because every iteration adds operations",
    "MEM003": "Process or GPU memory peaks close to its limit",
    "MEM005": "TensorFlow never frees Python functions of rebuilt datasets",
}
