"""What the tool knows about TensorFlow's operations and graphs. Imports no TensorFlow."""
