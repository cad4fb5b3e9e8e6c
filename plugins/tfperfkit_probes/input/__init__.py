"""The probe ``input``: where batches come from and what bounds them."""
