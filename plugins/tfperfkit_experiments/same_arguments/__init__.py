"""The experiment ``same-arguments``."""
