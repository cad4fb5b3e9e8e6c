"""MLflow: the report as an artefact, the account as metrics."""
