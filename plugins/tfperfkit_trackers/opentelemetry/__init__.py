"""Metrics as OpenTelemetry's protocol has them, to an endpoint or a file."""
