import tensorflow as tf


class LossOptions:
    def __init__(self, smoothing=0.1, weight=1.0):
        self.smoothing = smoothing
        self.weight = weight


model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((14, 14, 1)),
        tf.keras.layers.Conv2D(6, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(7),
    ]
)
optimizer = tf.keras.optimizers.Nadam()


@tf.function
def train_step(images, labels, options):
    onehot = tf.one_hot(labels, 7)
    onehot = onehot * (1 - options.smoothing) + options.smoothing / 7
    with tf.GradientTape() as tape:
        ce = tf.nn.softmax_cross_entropy_with_logits(onehot, model(images, training=True))
        loss = options.weight * tf.reduce_mean(ce)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


images = tf.random.uniform((1600, 14, 14, 1), seed=1)
labels = tf.random.uniform((1600,), 0, 7, tf.int32, seed=2)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).batch(32).cache()
options = LossOptions(smoothing=0.05)
for number, (x, y) in enumerate(dataset):
    loss = train_step(x, y, options)
    if number % 20 == 0:
        tf.print("batch", number, "loss", loss)
