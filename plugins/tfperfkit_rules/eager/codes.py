"""The titles of the eager findings. A code is stable and never reused; each has a page ``docs/findings/<code>.md``."""

from __future__ import annotations

#: The title of each code, which is the heading of its page. A finding fills in numbers and the user's names.
TITLES = {
    "EAG001": "Training step runs as eager operations, without tf.function",
    "EAG002": "NumPy inside the step prevents compiling with tf.function",
    "EAG003": "run_eagerly=True makes the step run as eager operations",
    "EAG004": "Keras model called on tiny inputs, so overhead dominates",
    "EAG005": "Python loop inside the eager step repeats its operations",
    "EAG006": "model.fit called repeatedly for few batches each",
    "EAG007": "get_weights and set_weights copy weights through NumPy",
    "EAG008": "Loop or call runs as eager operations, outside tf.function",
    "EAG009": "Model or Session is created again and again",
    "EAG010": "tf.map_fn called eagerly runs its function in Python",
    "EAG011": "Python reads tensor elements one at a time",
    "EAG012": "session.run called on tiny inputs, so overhead dominates",
    "EAG013": "tf.function called on tiny inputs, so overhead dominates",
    "EAG014": "Keras' Python around train_on_batch takes much of a step",
    "EAG015": "Layer.adapt runs in small batches or repeated passes",
    "EAG016": "tf.constant converts a Python list element by element",
    "EAG017": "model.predict repeated on the same data and weights",
    "EAG018": "scipy minimize without jac estimates gradients by finite differences",
}
