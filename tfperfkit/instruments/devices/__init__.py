"""Devices: which there are, where operations run, what is copied, where Python waits."""
