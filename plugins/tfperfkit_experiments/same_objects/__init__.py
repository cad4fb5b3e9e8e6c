"""The experiment ``same-objects``."""
