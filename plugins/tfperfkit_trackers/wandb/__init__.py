"""Weights & Biases: the report as an artefact, the account in the run's summary."""
