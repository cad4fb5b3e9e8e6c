# Tutorial: a custom training loop for coral photographs
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
kinds = rng.integers(0, 5, 3000)
photos = (rng.integers(0, 120, (3000, 32, 32, 3)) + 25 * kinds[:, None, None, None]).astype("uint8")


def prepare(photo, kind):
    photo = tf.cast(photo, tf.float32) / 255.0
    photo = tf.image.random_flip_left_right(photo)
    return photo, kind


train_ds = tf.data.Dataset.from_tensor_slices((photos, kinds))
train_ds = train_ds.map(prepare, num_parallel_calls=2).shuffle(500).repeat().batch(32)

model = tf.keras.Sequential([
    tf.keras.layers.Input((32, 32, 3)),
    tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
    tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(5),
])
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_object(labels, model(images, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for step in range(120):
    images, labels = next(iter(train_ds))
    loss = train_step(images, labels)
    if step % 50 == 0:
        print("step", step, "loss", round(float(loss), 3))
