"""The experiment ``python-calls``."""
