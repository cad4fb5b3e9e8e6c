"""The experiment ``array-first``."""
