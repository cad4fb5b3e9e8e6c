"""Watch mode beside the script: finds what changes in a long run, and asks the script's process for a window."""
