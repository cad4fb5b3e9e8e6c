"""The probe ``devices``: where everything really ran, what was copied, and where Python waited."""
