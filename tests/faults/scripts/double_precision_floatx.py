import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx("float64")  # FAULT

x = np.random.randn(2048, 784)
y = np.random.randint(0, 10, 2048)

model = tf.keras.models.Sequential(
    [
        tf.keras.layers.Input((784,)),
        tf.keras.layers.Dense(512, activation="relu"),  # FAULT
        tf.keras.layers.Dense(512, activation="relu"),  # FAULT
        tf.keras.layers.Dense(10),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.SGD(0.01),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
history = model.fit(x, y, epochs=20, batch_size=128, verbose=2)  # FAULT
print(history.history["loss"])

# /// fault
# style = "fit"
# kind = "time"
# cause = "set_floatx('float64') makes the whole model compute in double precision"
# codes = ["OPS003"]
# families = ["precision"]
# source = "GitHub, theislab/batchglm #109 'Do we need float64?'; Stack Overflow questions on set_floatx"
# ///
