"""The experiment ``without``."""
