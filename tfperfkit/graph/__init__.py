"""Knowledge about TensorFlow's operations and graphs. Imports no TensorFlow."""
