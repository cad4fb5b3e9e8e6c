"""The experiment ``steps-per-execution``."""
