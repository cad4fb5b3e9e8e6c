"""A text file for the textfile collector of Prometheus' node exporter."""
