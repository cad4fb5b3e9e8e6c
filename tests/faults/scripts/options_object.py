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
def train_step(images, labels, options):  # FAULT
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
for number, (x, y) in enumerate(dataset):
    loss = train_step(x, y, LossOptions(smoothing=0.05))  # FAULT
    if number % 20 == 0:
        tf.print("batch", number, "loss", loss)

# /// fault
# style = "custom"
# kind = "time"
# cause = "A new settings object is passed to the tf.function at every call"
# codes = ["RET007", "RET006"]
# families = ["retrace"]
# source = "TensorFlow's warning '(3) passing Python objects instead of tensors', GitHub, theislab/scCODA #13"
# ///
