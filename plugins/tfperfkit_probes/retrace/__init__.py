"""The probe ``retrace``: every trace of every tf.function, and why it happened."""
