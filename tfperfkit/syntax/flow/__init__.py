"""Follows values through a file: what an expression may refer to, what changes it, what differs between iterations."""
