"""FedAvg simulation: readmission risk across hospitals with skewed case mix."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
FEATURES, CLASSES = 40, 3


def make_clients(num_clients, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(scale=1.1, size=(CLASSES, FEATURES))
    clients = {}
    for c in range(num_clients):
        n = int(rng.integers(200, 420))
        mix = rng.dirichlet([1.0] * CLASSES)
        y = rng.choice(CLASSES, size=n, p=mix)
        x = centers[y] + rng.normal(scale=2.5, size=(n, FEATURES)) + 0.2 * rng.normal(size=FEATURES)
        clients["hospital_%02d" % c] = (x.astype("float32"), y.astype("int32"))
    y = rng.choice(CLASSES, size=1500)
    x = centers[y] + rng.normal(scale=2.5, size=(1500, FEATURES))
    return clients, (x.astype("float32"), y.astype("int32"))


def build_model():
    return tf.keras.Sequential([
        tf.keras.layers.Input((FEATURES,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(CLASSES),
    ])


def compile_model(model):
    model.compile(optimizer=tf.keras.optimizers.SGD(0.05),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def weighted_average(updates):
    total = sum(n for _, n in updates)
    return [sum(w[k] * (n / total) for w, n in updates) for k in range(len(updates[0][0]))]


def main(rounds=3, num_clients=8, local_epochs=3):
    clients, (x_test, y_test) = make_clients(num_clients)
    global_model = compile_model(build_model())
    for rnd in range(rounds):
        global_weights = global_model.get_weights()
        updates = []
        for name, (x, y) in clients.items():
            local_model = compile_model(build_model())
            local_model.set_weights(global_weights)
            local_model.fit(x, y, batch_size=32, epochs=local_epochs, shuffle=False, verbose=0)
            updates.append((local_model.get_weights(), len(x)))
        global_model.set_weights(weighted_average(updates))
        loss, acc = global_model.evaluate(x_test, y_test, batch_size=500, verbose=0)
        print("round %d  loss %.5f  accuracy %.4f" % (rnd + 1, loss, acc))


if __name__ == "__main__":
    main()
