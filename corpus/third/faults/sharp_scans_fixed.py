"""Teach a small network to sharpen scans: the loss compares the blurred result with the scan."""
import numpy as np
import tensorflow as tf

RADIUS = 12
SIGMA = 4.0


def gaussian(radius, sigma):
    x = tf.range(-radius, radius + 1, dtype=tf.float32)
    line = tf.exp(-0.5 * tf.square(x / sigma))
    return line / tf.reduce_sum(line)


class GaussianBlur:
    def __init__(self, radius, sigma, channels):
        line = gaussian(radius, sigma)
        self.down = tf.tile(line[:, None, None, None], [1, 1, channels, 1])
        self.across = tf.tile(line[None, :, None, None], [1, 1, channels, 1])

    def __call__(self, images):
        images = tf.nn.depthwise_conv2d(images, self.down, [1, 1, 1, 1], "SAME")
        return tf.nn.depthwise_conv2d(images, self.across, [1, 1, 1, 1], "SAME")


blur = GaussianBlur(RADIUS, SIGMA, 3)


class Sharpener(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = [tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu") for _ in range(2)]
        self.out = tf.keras.layers.Conv2D(3, 3, padding="same")

    def call(self, scans):
        x = scans
        for layer in self.body:
            x = layer(x)
        return scans + self.out(x)

    def train_step(self, data):
        scans, _ = data
        with tf.GradientTape() as tape:
            sharp = self(scans, training=True)
            detail = tf.reduce_mean(tf.image.total_variation(sharp)) * 1e-6
            loss = tf.reduce_mean(tf.square(blur(sharp) - scans)) + detail
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {"loss": loss}


def scans(count, size, seed):
    rng = np.random.default_rng(seed)
    pages = (rng.random((count, size // 8, size // 8, 3)) > 0.5).astype("float32")
    return np.asarray(blur(tf.constant(pages.repeat(8, 1).repeat(8, 2))))


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(13)
    pages = scans(96, 64, 13)
    model = Sharpener()
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
    model.fit(pages, pages, batch_size=8, epochs=3, verbose=2)
