"""The experiment ``tensor-arguments``."""
