"""Multi-label report tagging: 128 report features -> 60 possible findings."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, optimizers, metrics

N_TRAIN, N_VAL = 30000, 5000
N_FEATURES = 128
N_FINDINGS = 60
EPOCHS = 8
THRESHOLDS = np.logspace(-3, -0.01, 150).tolist()

tf.keras.utils.set_random_seed(11)


def make_reports(n, seed):
    rng = np.random.default_rng(seed)
    w = np.random.default_rng(99).normal(size=(N_FEATURES, N_FINDINGS)) / np.sqrt(N_FEATURES)
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    logits = 2.0 * x @ w - 1.5 + rng.logistic(size=(n, N_FINDINGS)) * 0.3
    return x, (logits > 0).astype("float32")


def build_model():
    inputs = layers.Input((N_FEATURES,))
    h = layers.Dense(256, activation="relu")(inputs)
    h = layers.Dropout(0.2)(h)
    h = layers.Dense(256, activation="relu")(h)
    h = layers.Dropout(0.2)(h)
    outputs = layers.Dense(N_FINDINGS, activation="sigmoid")(h)
    return models.Model(inputs, outputs, name="finding_tagger")


def per_label_auc(y, p):
    result = []
    for k in range(y.shape[1]):
        ranks = np.empty(len(p))
        ranks[np.argsort(p[:, k])] = np.arange(1, len(p) + 1)
        n1 = y[:, k].sum()
        n0 = len(y) - n1
        if n1 and n0:
            result.append((ranks[y[:, k] == 1].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))
    return np.array(result)


x_train, y_train = make_reports(N_TRAIN, 0)
x_val, y_val = make_reports(N_VAL, 1)
print("mean positives per report: %.2f" % y_train.sum(1).mean())

model = build_model()
model.summary()
model.compile(
    optimizer=optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[
        metrics.AUC(name="auroc", multi_label=True, num_labels=N_FINDINGS, thresholds=THRESHOLDS),
        metrics.AUC(name="auprc", curve="PR", multi_label=True, num_labels=N_FINDINGS, thresholds=THRESHOLDS),
    ],
    jit_compile=False,
)
history = model.fit(
    x_train,
    y_train,
    batch_size=256,
    epochs=EPOCHS,
    validation_data=(x_val, y_val),
    verbose=2,
)

probs = model.predict(x_val, batch_size=1024, verbose=0)
auc = per_label_auc(y_val, probs)
print("macro AUROC %.4f, worst label %.4f (#%d)" % (auc.mean(), auc.min(), auc.argmin()))
