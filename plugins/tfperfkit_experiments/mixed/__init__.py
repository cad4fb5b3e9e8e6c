"""The experiment ``mixed``."""
