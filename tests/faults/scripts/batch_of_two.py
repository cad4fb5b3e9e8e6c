import numpy as np
from tensorflow import keras

np.random.seed(7)
X = np.random.rand(4000, 13)
y = X @ np.random.rand(13) + np.random.normal(0, 0.05, 4000)


def baseline_model():
    model = keras.Sequential()
    model.add(keras.layers.Input((13,)))
    model.add(keras.layers.Dense(13, kernel_initializer="normal", activation="relu"))
    model.add(keras.layers.Dense(6, kernel_initializer="normal", activation="relu"))
    model.add(keras.layers.Dense(1, kernel_initializer="normal"))
    model.compile(loss="mean_squared_error", optimizer="adam")
    return model


model = baseline_model()
hist = model.fit(X[:3600], y[:3600], epochs=3, batch_size=2, verbose=2)  # FAULT
print("train", hist.history["loss"][-1])
print("test", model.evaluate(X[3600:], y[3600:], verbose=0))

# /// fault
# style = "fit"
# kind = "time"
# cause = "With two examples to a batch the step is all overhead"
# codes = ["BAT001", "STP002"]
# families = ["batch", "step"]
# source = "Stack Overflow questions on a GPU that is slower than the CPU with a small batch; XProf's and SageMaker's advice 'bigger batch'"
# renamed = true
# ///
