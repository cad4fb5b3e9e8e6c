import numpy as np
import tensorflow as tf

data = np.random.default_rng(3).random((1920, 16), dtype=np.float32)
labels = (data.mean(axis=1) > 0.5).astype(np.float32)[:, None]
train_ds = tf.data.Dataset.from_tensor_slices((data, labels)).batch(32)

w1 = tf.Variable(tf.random.normal((16, 32), stddev=0.1))
b1 = tf.Variable(tf.zeros(32))
w2 = tf.Variable(tf.random.normal((32, 1), stddev=0.1))
b2 = tf.Variable(tf.zeros(1))
params = [w1, b1, w2, b2]


def forward(x):
    return tf.matmul(tf.nn.relu(tf.matmul(x, w1) + b1), w2) + b2


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, forward(x)))
    for p, g in zip(params, tape.gradient(loss, params)):
        p.assign_sub(0.3 * g)
    return loss


for epoch in range(2):
    losses = []
    for x, y in train_ds:
        compiled = tf.function(step)  # FAULT
        losses.append(float(compiled(x, y)))  # FAULT
    print("epoch", epoch, "loss", sum(losses) / len(losses))

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.function is applied again for every batch"
# codes = ["RET008"]
# families = ["retrace"]
# source = "TensorFlow's own warning '(1) creating @tf.function repeatedly in a loop', as in GitHub, google-parfait/tensorflow-federated #2794"
# ///
