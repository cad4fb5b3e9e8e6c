"""The files of a run directory: written while the script runs, read with suspicion."""
