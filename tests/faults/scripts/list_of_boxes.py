import numpy as np
import tensorflow as tf

rng = np.random.default_rng(21)
backbone = tf.keras.Sequential(
    [
        tf.keras.Input((32, 32, 3)),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


def example():
    image = rng.random((1, 32, 32, 3), dtype=np.float32)
    boxes = [tf.constant(rng.random(4), tf.float32) for _ in range(rng.integers(1, 32))]
    return tf.constant(image), boxes


@tf.function
def train_step(image, boxes):  # FAULT
    with tf.GradientTape() as tape:
        guess = backbone(image, training=True)[0]
        distance = tf.stack([tf.reduce_sum(tf.abs(guess - box)) for box in boxes])
        loss = tf.reduce_min(distance)
    grads = tape.gradient(loss, backbone.trainable_variables)
    optimizer.apply_gradients(zip(grads, backbone.trainable_variables))
    return loss


total = 0.0
for step in range(1, 101):
    image, boxes = example()
    total += float(train_step(image, boxes))  # FAULT
    if step % 50 == 0:
        print(f"step {step}: mean loss {total / step:.4f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "The targets are a Python list of tensors whose number changes, so the structure of the arguments does"
# codes = ["RET006"]
# families = ["retrace"]
# source = "TensorFlow's warning '(3) passing Python objects instead of tensors'; Stack Overflow questions on ragged targets in detection"
# ///
