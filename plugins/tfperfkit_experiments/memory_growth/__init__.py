"""The experiment ``memory-growth``."""
