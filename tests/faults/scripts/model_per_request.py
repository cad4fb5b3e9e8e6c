"""A small service answers requests with a model; trains nothing."""

import os
import tempfile

import numpy as np
import tensorflow as tf

WEIGHTS = os.path.join(tempfile.mkdtemp(), "answers.weights.h5")


def make_model():
    inputs = tf.keras.Input((24,))
    hidden = tf.keras.layers.Dense(64, activation="relu")(inputs)
    hidden = tf.keras.layers.Dense(64, activation="relu")(hidden)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(5, activation="softmax")(hidden))


make_model().save_weights(WEIGHTS)


class Service:
    def answer(self, request):
        model = make_model()  # FAULT
        model.load_weights(WEIGHTS)
        return int(tf.argmax(model(request[None]), axis=1)[0])


service, rng, counts = Service(), np.random.default_rng(0), [0] * 5
requests = iter(rng.normal(size=(160, 24)).astype("float32"))
for request in requests:
    counts[service.answer(request)] += 1
print("answers", counts)

# /// fault
# style = "custom"
# kind = "time"
# cause = "The model is built and its weights are loaded again for each request"
# codes = ["EAG009"]
# families = ["eager"]
# source = "Stack Overflow questions on Keras models in web services that load the model in each request"
# ///
