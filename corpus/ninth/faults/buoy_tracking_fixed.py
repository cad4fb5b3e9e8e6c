# Drifting buoy: bootstrap particle filter on range/bearing fixes from two shore stations
import numpy as np
import tensorflow as tf

tf.random.set_seed(11)
rng = np.random.default_rng(11)

N = 6000
T = 340
DT = 0.5
STATIONS = tf.constant([[0.0, 0.0], [40.0, 5.0]])
SIGMA_RANGE = 0.6
SIGMA_BEARING = 0.03

# --- true path and measurements -------------------------------------------------
truth = np.zeros((T, 4), "float32")
truth[0] = [15.0, 20.0, 0.4, -0.2]
for t in range(1, T):
    acc = rng.normal(0, 0.12, 2)
    truth[t, :2] = truth[t - 1, :2] + DT * truth[t - 1, 2:]
    truth[t, 2:] = 0.995 * truth[t - 1, 2:] + DT * acc


def observe(pos):
    d = pos[:, None, :] - STATIONS[None]
    rng_ = tf.norm(d, axis=-1)
    brg = tf.atan2(d[..., 1], d[..., 0])
    return rng_, brg


true_range, true_bearing = observe(tf.constant(truth[:, :2]))
meas_range = true_range.numpy() + rng.normal(0, SIGMA_RANGE, true_range.shape).astype("float32")
meas_bearing = true_bearing.numpy() + rng.normal(0, SIGMA_BEARING, true_bearing.shape).astype("float32")


# --- filter -----------------------------------------------------------------------
def propagate(particles, seed):
    noise = tf.random.stateless_normal([N, 2], seed) * 0.15
    vel = 0.995 * particles[:, 2:] + DT * noise
    pos = particles[:, :2] + DT * particles[:, 2:]
    return tf.concat([pos, vel], axis=1)


def log_likelihood(particles, zr, zb):
    r, b = observe(particles[:, :2])
    db = tf.math.floormod(b - zb + np.pi, 2 * np.pi) - np.pi
    return tf.reduce_sum(-0.5 * tf.square((r - zr) / SIGMA_RANGE)
                         - 0.5 * tf.square(db / SIGMA_BEARING), axis=1)


def systematic_resample(weights, seed):
    cdf = tf.cumsum(weights)
    u0 = tf.random.stateless_uniform([], seed)
    u = (tf.range(N, dtype=tf.float32) + u0) / N
    idx = tf.searchsorted(cdf, u, side="left")
    return tf.minimum(idx, N - 1)


@tf.function
def filter_step(particles, zr, zb, t):
    particles = propagate(particles, tf.stack([t, 1]))
    w = tf.nn.softmax(log_likelihood(particles, zr, zb))
    mean = tf.reduce_sum(w[:, None] * particles, axis=0)
    ess = 1.0 / tf.reduce_sum(tf.square(w))
    idx = systematic_resample(w, tf.stack([t, 2]))
    return tf.gather(particles, idx), mean, ess


start = np.concatenate([rng.normal([15, 20], 3.0, (N, 2)), rng.normal(0, 0.5, (N, 2))], axis=1)
particles = tf.constant(start.astype("float32"))
estimates, sizes = [], []
for t in range(T):
    particles, mean, ess = filter_step(particles, tf.constant(meas_range[t]),
                                       tf.constant(meas_bearing[t]), tf.constant(t))
    estimates.append(mean.numpy())
    sizes.append(float(ess))

err = np.linalg.norm(np.array(estimates)[:, :2] - truth[:, :2], axis=1)
print(f"rms position error {np.sqrt((err ** 2).mean()):.3f} km, "
      f"worst {err.max():.3f}, mean effective size {np.mean(sizes):.0f}")
