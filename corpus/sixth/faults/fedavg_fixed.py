"""Federated averaging, simulated: ten clients, each with its part of the data."""

import numpy as np
import tensorflow as tf

CLIENTS, ROUNDS = 10, 5


def create_model():
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Input((28, 28, 1)),
            tf.keras.layers.Conv2D(8, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(optimizer=tf.keras.optimizers.SGD(0.05), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def client_data(seed):
    rng = np.random.default_rng(seed)
    return rng.random((320, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 320)


def average(weights):
    return [np.mean(layer, axis=0) for layer in zip(*weights, strict=False)]


def client_update(model, global_weights, data):
    model.set_weights(global_weights)
    x, y = data
    model.fit(x, y, epochs=1, batch_size=32, verbose=0)
    return model.get_weights()


def main():
    data = [client_data(seed) for seed in range(CLIENTS)]
    test_x, test_y = client_data(99)
    server = create_model()
    worker = create_model()
    for number in range(ROUNDS):
        global_weights = server.get_weights()
        updates = [client_update(worker, global_weights, part) for part in data]
        server.set_weights(average(updates))
        loss, accuracy = server.evaluate(test_x, test_y, verbose=0)
        print(f"round {number}: loss {loss:.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
