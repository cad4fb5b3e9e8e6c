# Gray-Scott reaction-diffusion, ported from the old TF1 tutorial
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()

N = 96
STEPS = 110
DU, DV, FEED, KILL = 0.16, 0.08, 0.042, 0.061

rng = np.random.RandomState(1)
u0 = np.ones((N, N), dtype=np.float32)
v0 = np.zeros((N, N), dtype=np.float32)
for _ in range(14):
    y, x = rng.randint(5, N - 12, 2)
    u0[y:y + 8, x:x + 8] = 0.5
    v0[y:y + 8, x:x + 8] = 0.25
u0 += 0.02 * rng.rand(N, N).astype(np.float32)
v0 += 0.02 * rng.rand(N, N).astype(np.float32)


def make_kernel(a):
    a = np.asarray(a, dtype=np.float32)
    return tf.constant(a.reshape(list(a.shape) + [1, 1]))


def laplace(x, kernel):
    padded = tf.concat([x[-1:, :], x, x[:1, :]], axis=0)
    padded = tf.concat([padded[:, -1:], padded, padded[:, :1]], axis=1)
    y = tf.nn.conv2d(padded[None, :, :, None], kernel, [1, 1, 1, 1], padding="VALID")
    return y[0, :, :, 0]


def stats(u, v):
    return "u %.4f +- %.4f   v %.4f +- %.4f" % (u.mean(), u.std(), v.mean(), v.std())


def snapshot(field, width=48):
    ramp = " .:-=+*#%@"
    step = max(1, field.shape[1] // width)
    small = field[::2 * step, ::step]
    small = (small - small.min()) / (np.ptp(small) + 1e-9)
    return "\n".join("".join(ramp[int(c * 9.99)] for c in row) for row in small)


U = tf.get_variable("U", initializer=u0)
V = tf.get_variable("V", initializer=v0)
kernel = make_kernel([[0.05, 0.2, 0.05], [0.2, -1.0, 0.2], [0.05, 0.2, 0.05]])

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(STEPS):
        uvv = U * V * V
        u_next = U + DU * 5 * laplace(U, kernel) - uvv + FEED * (1.0 - U)
        v_next = V + DV * 5 * laplace(V, kernel) + uvv - (FEED + KILL) * V
        with tf.control_dependencies([u_next, v_next]):
            step = tf.group(U.assign(u_next), V.assign(v_next))
        sess.run(step)
        if i % 50 == 0:
            u, v = sess.run([U, V])
            print(i, stats(u, v))
    u, v = sess.run([U, V])

print("done", stats(u, v))
print(snapshot(v))
