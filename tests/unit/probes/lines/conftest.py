"""Which of these tests there are: those of ``sys.monitoring`` begin with Python 3.12 (``make test-versions``)."""

from __future__ import annotations

import sys

collect_ignore = [] if hasattr(sys, "monitoring") else ["test_monitored.py"]
