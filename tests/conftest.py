"""Shared by all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Time is never asserted: the machines are shared, and an example may take long on a loaded one.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")

# What TensorFlow's C++ code logs is noise in a test's output.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
