"""The experiment ``batch``."""
