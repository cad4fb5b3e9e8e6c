"""The experiment ``float32``."""
