"""The experiment ``present-devices``."""
