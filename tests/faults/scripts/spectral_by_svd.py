import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
signals = rng.normal(size=(4096, 64)).astype("float32")
labels = rng.integers(0, 2, (4096, 1)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((signals, labels)).shuffle(4096).batch(64, drop_remainder=True).prefetch(2)

critic = tf.keras.Sequential(
    [
        tf.keras.Input((64,)),
        tf.keras.layers.Dense(192, activation="relu"),
        tf.keras.layers.Dense(192, activation="relu"),
    ]
)
head = tf.keras.layers.Dense(1)
head.build((None, 192))
opt = tf.keras.optimizers.Adam(1e-3)
variables = critic.trainable_variables + head.trainable_variables
kernels = [v for v in critic.trainable_variables if len(v.shape) == 2]


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        logits = head(critic(x, training=True))
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logits))
    gradients = tape.gradient(loss, variables)
    opt.apply_gradients(zip(gradients, variables))
    for kernel in kernels:
        sigma = tf.linalg.svd(kernel, compute_uv=False)[0]  # FAULT
        kernel.assign(kernel / tf.maximum(sigma, 1.0))
    return loss


for epoch in range(3):
    for x, y in data:
        loss = train(x, y)
    print(epoch, float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The largest singular value of each kernel is taken from a whole decomposition in every step"
# codes = ["GRF007"]
# families = ["graph"]
# source = "Miyato et al. 2018 (spectral normalisation by one power iteration, to avoid the decomposition); questions on slow tf.linalg.svd"
# ///
