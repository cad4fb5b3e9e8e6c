"""The experiment ``relaxed-shapes``."""
