"""The probe ``lines``: time by source line, of Python and of compiled graphs."""
