"""The probe ``ops``: the operations of each concrete function."""
