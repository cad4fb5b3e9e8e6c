"""The experiment ``jit``."""
