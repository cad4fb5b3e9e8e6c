"""Several processes of one training: one report from the parts that each of them recorded."""
