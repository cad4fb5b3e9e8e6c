"""The experiment ``fit-without``."""
