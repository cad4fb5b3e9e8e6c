"""The experiment ``batch-then-map``."""
