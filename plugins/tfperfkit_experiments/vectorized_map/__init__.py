"""The experiment ``vectorized-map``."""
