"""The experiment ``predict-batch``."""
