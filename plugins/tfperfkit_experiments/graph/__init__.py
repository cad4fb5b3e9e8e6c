"""The experiment ``graph``."""
