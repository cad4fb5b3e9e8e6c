import numpy as np
import tensorflow as tf


class MixUp:
    """Blends each image with another one of its batch."""

    def __init__(self, alpha, seed):
        self.alpha = alpha
        self.rng = tf.random.Generator.from_seed(seed)

    @tf.function
    def __call__(self, images, labels):  # FAULT
        size = tf.shape(images)[0]
        lam = self.rng.uniform((size, 1, 1, 1), 1.0 - self.alpha, 1.0)
        order = tf.argsort(self.rng.uniform((size,)))
        mixed = lam * images + (1.0 - lam) * tf.gather(images, order)
        mixed = tf.image.adjust_contrast(mixed, 1.2)
        return mixed, lam[:, 0, 0] * labels + (1.0 - lam[:, 0, 0]) * tf.gather(labels, order)


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(32, activation="relu")])
        self.head = tf.keras.layers.Dense(4, activation="softmax")

    def call(self, x):
        return self.head(self.body(x))


net = Net()
net.compile(optimizer="sgd", loss="categorical_crossentropy")
images = np.random.rand(1600, 12, 12, 1).astype("float32")
labels = np.eye(4, dtype="float32")[np.random.randint(0, 4, 1600)]
for epoch in range(2):
    for low in range(0, 1600, 32):
        mixup = MixUp(0.4, seed=low)  # FAULT
        x, y = mixup(tf.constant(images[low : low + 32]), tf.constant(labels[low : low + 32]))  # FAULT
        loss = net.train_on_batch(x, y)
    print(epoch, loss)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A new object with a compiled method is made for every batch, and each traces it again"
# codes = ["RET009", "RET008"]
# families = ["retrace"]
# source = "tensorflow.org guide 'Better performance with tf.function' (methods are traced for each instance); Stack Overflow questions on tf.function methods of classes"
# ///
