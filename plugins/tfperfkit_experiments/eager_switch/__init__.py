"""The experiment ``eager-switch``."""
