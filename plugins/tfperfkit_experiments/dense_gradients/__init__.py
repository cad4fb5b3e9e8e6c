"""The experiment ``dense-gradients``."""
