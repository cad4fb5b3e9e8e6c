"""The probes that tfperf brings, each in a folder of its own."""

#: What ``--probes default`` stands for, the windows that tell most first.
DEFAULT = ("lines", "retrace", "tfprof", "input", "memory", "ops", "devices")
