"""The experiment ``host-reads-late``."""
