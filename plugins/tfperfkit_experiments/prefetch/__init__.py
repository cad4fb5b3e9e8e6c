"""The experiment ``prefetch``."""
