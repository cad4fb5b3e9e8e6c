"""The experiment ``shuffle``."""
