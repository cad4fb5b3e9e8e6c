# EM for a Gaussian mixture with full covariances, all in TensorFlow.
# Question: sklearn needs a second for this, my tf.function needs half a minute. Why?
import os, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

K = 10         # components
D = 12         # dimensions
N = 3500       # points
ITERS = 60


def sample_points():
    rng = np.random.RandomState(42)
    xs = []
    for _ in range(K):
        a = rng.randn(D, D) * 0.4
        mean = rng.randn(D) * 3
        xs.append(rng.randn(N // K, D) @ a + mean)
    x = np.concatenate(xs).astype(np.float32)
    rng.shuffle(x)
    return x


def log_prob(x, mean, cov):
    """log N(x | mean, cov) for each row of x."""
    d = x - mean
    prec = tf.linalg.inv(cov)
    maha = tf.reduce_sum(tf.matmul(d, prec) * d, axis=1)
    logdet = tf.linalg.logdet(cov)
    return -0.5 * (maha + logdet + D * np.float32(np.log(2 * np.pi)))


@tf.function
def em_step(x, pi, mu, cov):
    # E step
    lp = tf.stack([tf.math.log(pi[k]) + log_prob(x, mu[k], cov[k]) for k in range(K)], axis=1)
    norm = tf.reduce_logsumexp(lp, axis=1, keepdims=True)
    resp = tf.exp(lp - norm)
    # M step
    nk = tf.reduce_sum(resp, axis=0) + 1e-6
    new_pi = nk / tf.cast(tf.shape(x)[0], tf.float32)
    new_mu = tf.matmul(resp, x, transpose_a=True) / nk[:, None]
    covs = []
    for k in range(K):
        d = x - new_mu[k]
        c = tf.matmul(d * resp[:, k:k + 1], d, transpose_a=True) / nk[k]
        covs.append(c + 1e-3 * tf.eye(D))
    return new_pi, new_mu, tf.stack(covs), tf.reduce_mean(norm)


x = tf.constant(sample_points())
pi = tf.fill([K], 1.0 / K)
mu = tf.gather(x, tf.range(K) * (N // K))
cov = tf.tile(tf.eye(D)[None] * 4.0, [K, 1, 1])

t0 = time.time()
for it in range(ITERS):
    pi, mu, cov, ll = em_step(x, pi, mu, cov)
    if it % 10 == 0:
        print(f"iter {it:3d}  log likelihood {ll.numpy():.4f}  {time.time() - t0:.1f}s")

print("done, log likelihood %.4f" % ll.numpy())
print("weights:", np.round(np.sort(pi.numpy()), 3))
