import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
tf.set_random_seed(1)

rng = np.random.RandomState(1)
items = rng.randn(5000, 32).astype("float32")
users = rng.randn(300, 32).astype("float32")

item_matrix = tf.placeholder(tf.float32, [None, 32], name="items")
weights = tf.get_variable("w", [32, 32], initializer=tf.random_normal_initializer(stddev=0.2))
projected = tf.nn.tanh(tf.matmul(item_matrix, weights))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    table = sess.run(projected, {item_matrix: items})
    item_const = tf.constant(table)

    user = tf.placeholder(tf.float32, [32], name="user")
    scores = tf.linalg.matvec(item_const, user)
    values, ids = tf.nn.top_k(scores, k=10)

    best = []
    for u in users:
        best.append(sess.run([values, ids], {user: u}))

top1 = np.array([b[1][0] for b in best])
mean_score = np.mean([b[0].mean() for b in best])
print("distinct winners", len(set(top1.tolist())), "mean score %.4f" % mean_score)
