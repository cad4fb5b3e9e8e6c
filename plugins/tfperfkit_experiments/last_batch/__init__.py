"""The experiment ``last-batch``."""
