"""The experiment ``without-line``."""
