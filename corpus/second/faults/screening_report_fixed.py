"""Score a screening test and report how good it is."""
import numpy as np
import tensorflow as tf


class Report:
    def __init__(self, model, batch_size=16):
        self.model = model
        self.batch_size = batch_size
        self.metrics = [
            tf.keras.metrics.AUC(name="roc"),
            tf.keras.metrics.AUC(curve="PR", name="pr"),
            tf.keras.metrics.Precision(name="precision"),
            tf.keras.metrics.Recall(name="recall"),
        ]
        self.forward = tf.function(lambda x: model(x, training=False))

    def run(self, features, labels):
        metrics = self.metrics
        scores = [self.forward(features[start:start + 1024])
                  for start in range(0, len(features), 1024)]
        scores = tf.concat(scores, axis=0)
        for metric in metrics:
            metric.update_state(labels[:, None], scores)
        return self.summary(metrics)

    def summary(self, metrics):
        running = {m.name: float(m.result()) for m in metrics}
        return running


def build_model(width):
    return tf.keras.Sequential([
        tf.keras.layers.Input((width,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])


def main():
    tf.keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    features = rng.normal(size=(5600, 24)).astype("float32")
    labels = (features[:, 0] + rng.normal(size=5600) > 0.5).astype("float32")
    report = Report(build_model(24)).run(features, labels)
    print({k: round(v, 4) for k, v in report.items()})


if __name__ == "__main__":
    main()
