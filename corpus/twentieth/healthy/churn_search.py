"""Random search over architectures for a churn model, successive halving on validation AUC."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(17)


def make_data(n):
    x = rng.normal(size=(n, 20)).astype("float32")
    score = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] - 0.5 * x[:, 3] ** 2 + 0.3 * x[:, 4:8].sum(axis=1)
    return x, (score + 0.5 * rng.normal(size=n) > 0).astype("float32")


def sample_config():
    return {"depth": int(rng.integers(1, 4)), "width": int(rng.choice([32, 64, 128])),
            "activation": str(rng.choice(["relu", "gelu", "tanh"])),
            "dropout": float(rng.uniform(0.0, 0.3)), "lr": float(10 ** rng.uniform(-3.5, -2.0))}


def build(config):
    inputs = tf.keras.Input((20,))
    x = inputs
    for i in range(config["depth"]):
        x = tf.keras.layers.Dense(config["width"], activation=config["activation"])(x)
        x = tf.keras.layers.Dropout(config["dropout"], seed=i)(x)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
    model.compile(optimizer=tf.keras.optimizers.Adam(config["lr"]),
                  loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.AUC(from_logits=True, name="auc")])
    return model


def main():
    tf.keras.utils.set_random_seed(1)
    x, y = make_data(9000)
    train = (tf.data.Dataset.from_tensor_slices((x[:7000], y[:7000])).shuffle(7000, seed=3)
             .batch(128).prefetch(tf.data.AUTOTUNE))
    valid = tf.data.Dataset.from_tensor_slices((x[7000:], y[7000:])).batch(1000).cache()
    trials = []
    for _ in range(6):
        config = sample_config()
        trials.append({"config": config, "model": build(config), "epochs": 0})
    budget = 2
    while len(trials) > 1:
        for trial in trials:
            history = trial["model"].fit(train, validation_data=valid, initial_epoch=trial["epochs"],
                                         epochs=trial["epochs"] + budget, verbose=0)
            trial["epochs"] += budget
            trial["auc"] = history.history["val_auc"][-1]
        trials = sorted(trials, key=lambda t: -t["auc"])[:max(1, len(trials) // 2)]
        budget *= 2
    best = trials[0]
    print("best auc %.4f after %d epochs" % (best["auc"], best["epochs"]), best["config"]["width"],
          best["config"]["depth"], best["config"]["activation"])


if __name__ == "__main__":
    main()
