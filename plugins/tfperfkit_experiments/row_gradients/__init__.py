"""The experiment ``row-gradients``."""
