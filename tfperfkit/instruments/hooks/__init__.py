"""Ways to see a call without being seen: seams, audit events, frames, signals."""
