"""Sentiment of short reviews, all padded to the same 200 words."""

import numpy as np
from tensorflow import keras

rng = np.random.default_rng(3)
lengths = np.minimum(rng.geometric(1 / 24, 2400) + 4, 190)
reviews = [rng.integers(1, 4000, count).tolist() for count in lengths]
liked = np.array([int(sum(review) / len(review) > 2000) for review in reviews])
x = keras.utils.pad_sequences(reviews, maxlen=200)

model = keras.Sequential(
    [
        keras.Input((None,)),
        keras.layers.Embedding(4000, 32),
        keras.layers.GRU(32),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, liked, batch_size=48, epochs=3, verbose=0)  # FAULT
print("loss", history.history["loss"][-1])

# /// fault
# style = "text"
# kind = "time"
# cause = "Short reviews are padded to a length that few of them reach, so most of what the recurrent layer computes is padding"
# codes = ["GRF018"]
# families = ["graph"]
# source = "Keras' guide on masking and padding; Stack Overflow questions on bucketing sequences of varying length"
# ///
