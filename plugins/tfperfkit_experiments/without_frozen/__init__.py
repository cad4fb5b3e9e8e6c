"""The experiment ``without-frozen``."""
