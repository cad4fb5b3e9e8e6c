import numpy as np
import tensorflow as tf

SIGNALS = np.random.default_rng(5).normal(size=(96, 256)).astype(np.float32)
KIND = np.arange(96) % 3

net = tf.keras.Sequential(
    [
        tf.keras.Input((129,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(3),
    ]
)
opt = tf.keras.optimizers.Adam(3e-3)
scce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def to_spectrum(signal, kind):
    signal = signal + tf.random.normal(tf.shape(signal), stddev=0.01)
    signal = (signal - tf.reduce_mean(signal)) / (tf.math.reduce_std(signal) + 1e-6)
    power = tf.abs(tf.signal.rfft(signal * tf.signal.hann_window(256)))
    return tf.math.log(power + 1e-4), kind


def training_data():
    ds = tf.data.Dataset.from_tensor_slices((SIGNALS, KIND))
    ds = ds.shuffle(96).map(to_spectrum, num_parallel_calls=2)  # FAULT
    return ds.batch(32).prefetch(1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = scce(y, net(x))
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss


for epoch in range(80):
    for x, y in training_data():  # FAULT
        loss = train_step(x, y)
    if epoch % 20 == 0:
        print(epoch, float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The tf.data pipeline is built again, and its function traced again, for every small epoch"
# codes = ["RET012", "INP012"]
# families = ["retrace", "input"]
# source = "Stack Overflow questions on making the data set inside of the epoch loop; DeepPerf's rule 'graph built in code that runs repeatedly'"
# ///
