"""A run as one HTML file: no network, no telemetry, nothing of the script's taken as markup."""
