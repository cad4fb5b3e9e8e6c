"""From a run directory to a report: reads files only, needs no TensorFlow."""
