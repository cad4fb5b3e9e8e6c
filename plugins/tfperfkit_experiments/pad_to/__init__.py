"""The experiment ``pad-to``."""
