"""The experiment ``update-rows``."""
