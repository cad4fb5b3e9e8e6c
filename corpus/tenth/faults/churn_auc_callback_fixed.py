# Customer churn prediction with an MLP (kernel exported from a notebook)
# Data is imbalanced, so we track ROC-AUC on the hold-out set instead of accuracy.
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models, callbacks, optimizers

SEED = 42
np.random.seed(SEED)
tf.keras.utils.set_random_seed(SEED)

EPOCHS = 10
BATCH_SIZE = 256

# ---------------------------------------------------------------
# In[1]: make the data
# ---------------------------------------------------------------
def make_customers(n):
    tenure = np.random.exponential(24, n)
    charges = np.random.gamma(4.0, 18.0, n)
    contract = np.random.randint(0, 3, n)
    support = np.random.poisson(1.2, n)
    extras = np.random.binomial(1, 0.4, (n, 6))
    payment = np.random.randint(0, 4, n)
    logit = (-1.2 - 0.03 * tenure + 0.012 * charges - 0.8 * contract
             + 0.5 * support - 0.2 * extras.sum(1) + 0.3 * (payment == 2))
    y = (np.random.rand(n) < 1 / (1 + np.exp(-logit))).astype("float32")
    num = np.stack([tenure, charges, support], 1)
    num = (num - num.mean(0)) / num.std(0)
    cat = np.concatenate([np.eye(3)[contract], np.eye(4)[payment], extras], 1)
    return np.concatenate([num, cat], 1).astype("float32"), y


X, y = make_customers(44000)
n_train = 30000
X_train, y_train = X[:n_train], y[:n_train]
X_val, y_val = X[n_train:], y[n_train:]
print("train", X_train.shape, "val", X_val.shape, "churn rate", y_train.mean().round(3))


# ---------------------------------------------------------------
# In[2]: metric
# ---------------------------------------------------------------
def roc_auc(y_true, y_score):
    """Probability that a random churner is scored above a random non-churner."""
    y_true, y_score = np.asarray(y_true), np.asarray(y_score)
    pos = y_score[y_true == 1]
    neg = np.sort(y_score[y_true == 0])
    below = np.searchsorted(neg, pos, side="left")
    upto = np.searchsorted(neg, pos, side="right")
    wins = 0.5 * (below.sum() + upto.sum())
    return wins / (len(pos) * len(neg))


class RocAucCallback(callbacks.Callback):
    def __init__(self, X_val, y_val):
        super().__init__()
        self.X_val = X_val
        self.y_val = y_val
        self.history = []

    def on_epoch_end(self, epoch, logs=None):
        scores = self.model.predict(self.X_val, batch_size=1024, verbose=0).ravel()
        auc = roc_auc(self.y_val.tolist(), scores.tolist())
        self.history.append(auc)
        print(f"epoch {epoch + 1:2d} - loss {logs['loss']:.4f} - val_auc {auc:.5f}")


# ---------------------------------------------------------------
# In[3]: model
# ---------------------------------------------------------------
def build_model(n_features):
    inp = layers.Input(shape=(n_features,))
    x = layers.Dense(64, activation="relu")(inp)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(0.3)(x)
    x = layers.Dense(32, activation="relu")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Dropout(0.3)(x)
    out = layers.Dense(1, activation="sigmoid")(x)
    model = models.Model(inp, out)
    model.compile(optimizer=optimizers.Adam(1e-3), loss="binary_crossentropy")
    return model


model = build_model(X_train.shape[1])
auc_cb = RocAucCallback(X_val, y_val)
model.fit(X_train, y_train, epochs=EPOCHS, batch_size=BATCH_SIZE,
          callbacks=[auc_cb], verbose=0)

best = int(np.argmax(auc_cb.history))
print("best epoch:", best + 1, "auc:", round(auc_cb.history[best], 5))
