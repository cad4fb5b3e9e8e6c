"""Exports a dynamics model and verifies the exported signature."""
import os
import tempfile

import numpy as np
import tensorflow as tf


class PendulumDynamics(tf.Module):
    def __init__(self, seed=0):
        super().__init__()
        rng = np.random.RandomState(seed)
        self.w1 = tf.Variable(0.3 * rng.randn(3, 32), dtype=tf.float32)
        self.w2 = tf.Variable(0.3 * rng.randn(32, 2), dtype=tf.float32)

    @tf.function(input_signature=[tf.TensorSpec((None, 2), name="state"), tf.TensorSpec((None, 1), name="action")])
    def predict(self, state, action):
        h = tf.tanh(tf.matmul(tf.concat([state, action], 1), self.w1))
        return {"next_state": state + 0.05 * tf.matmul(h, self.w2)}


def main():
    model = PendulumDynamics()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "1")
        tf.saved_model.save(model, path, signatures=model.predict)
        served = tf.saved_model.load(path).signatures["serving_default"]
        state = tf.constant([[0.1, 0.0], [1.0, -0.5]])
        errors = []
        for step in range(50):
            action = tf.fill((2, 1), float(np.sin(step / 5)))
            nxt = served(state=state, action=action)["next_state"]
            errors.append(float(tf.reduce_max(tf.abs(nxt - model.predict(state, action)["next_state"]))))
            state = nxt
        print("max difference %.1e" % max(errors))
        print("final state", np.round(state.numpy(), 3).tolist())


if __name__ == "__main__":
    main()
