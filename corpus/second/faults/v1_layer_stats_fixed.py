"""Statistics of the activations of an old TF1 network, batch by batch."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

rng = np.random.default_rng(31)
pictures = rng.uniform(size=(1024, 40, 40, 3)).astype("float32")


def conv(x, filters, seed):
    shape = [3, 3, int(x.shape[-1]), filters]
    kernel = np.random.default_rng(seed).normal(scale=0.1, size=shape).astype("float32")
    return tf.nn.relu(tf.nn.conv2d(x, tf1.get_variable("k%d" % seed, initializer=kernel), 1, "SAME"))


images = tf1.placeholder(tf.float32, [None, 40, 40, 3], name="images")
layer1 = conv(images, 32, 1)
layer2 = conv(layer1, 32, 2)
layer3 = conv(tf.nn.max_pool2d(layer2, 2, 2, "SAME"), 64, 3)
layer4 = conv(layer3, 64, 4)
pooled = tf.reduce_mean(layer4, axis=[1, 2])

summaries = [
    tf.reduce_mean(pooled),
    tf.reduce_max(pooled),
    tf.math.reduce_std(pooled),
    tf.reduce_mean(tf.cast(tf.equal(layer4, 0.0), tf.float32)),
    tf.reduce_max(layer4),
    tf.reduce_mean(tf.nn.top_k(pooled, 5).values),
    tf.reduce_mean(tf.norm(pooled, axis=1)),
]

table = []
with tf1.Session() as sess:
    sess.run(tf1.global_variables_initializer())
    for start in range(0, len(pictures), 32):
        batch = pictures[start:start + 32]
        table.append(sess.run(summaries, feed_dict={images: batch}))

table = np.asarray(table)
print(table.shape, np.round(table.mean(axis=0), 4))
