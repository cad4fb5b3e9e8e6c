"""The experiment ``parallel``."""
