"""The probe ``memory``: how much the process holds, whether it grows, and what grows."""
