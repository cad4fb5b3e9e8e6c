"""The experiment ``top-k``."""
