"""The experiment ``captured-arrays``."""
