"""Forward filter and backward smoother for a batch of tracks."""
import numpy as np
import tensorflow as tf

DT = 0.1


class TrackSmoother:
    def __init__(self, q=0.3, r=0.8):
        f = np.eye(4)
        f[0, 2] = f[1, 3] = DT
        g = np.array([[DT**2 / 2, 0], [0, DT**2 / 2], [DT, 0], [0, DT]])
        self.F = tf.constant(f, tf.float64)
        self.Q = tf.constant(q * g @ g.T + 1e-9 * np.eye(4), tf.float64)
        self.H = tf.constant(np.eye(2, 4), tf.float64)
        self.R = tf.constant(r * np.eye(2), tf.float64)

    def _predict(self, m, p):
        m = tf.linalg.matvec(self.F, m)
        p = self.F @ p @ tf.transpose(self.F) + self.Q
        return m, p

    def _update(self, m, p, y):
        hp = tf.linalg.matmul(self.H, p)
        s = tf.linalg.matmul(hp, self.H, transpose_b=True) + self.R
        gain = tf.linalg.matrix_transpose(tf.linalg.solve(s, hp))
        m = m + tf.linalg.matvec(gain, y - tf.linalg.matvec(self.H, m))
        p = p - tf.linalg.matmul(gain, hp)
        return m, p

    @tf.function
    def smooth(self, ys):
        steps = tf.shape(ys)[0]
        batch = tf.shape(ys)[1]
        m = tf.zeros([batch, 4], tf.float64)
        p = 10.0 * tf.eye(4, batch_shape=[batch], dtype=tf.float64)
        ms = tf.TensorArray(tf.float64, steps)
        ps = tf.TensorArray(tf.float64, steps)
        for t in tf.range(steps):
            m, p = self._predict(m, p)
            m, p = self._update(m, p, ys[t])
            ms = ms.write(t, m)
            ps = ps.write(t, p)
        filtered, covs = ms.stack(), ps.stack()
        out = tf.TensorArray(tf.float64, steps)
        out = out.write(steps - 1, m)
        for k in tf.range(steps - 1):
            t = steps - 2 - k
            mp, pp = self._predict(filtered[t], covs[t])
            gain = tf.linalg.matrix_transpose(tf.linalg.solve(pp, self.F @ covs[t]))
            p = covs[t] + gain @ (p - pp) @ tf.linalg.matrix_transpose(gain)
            m = filtered[t] + tf.linalg.matvec(gain, m - mp)
            out = out.write(t, m)
        return filtered, out.stack()


def tracks(batch, steps, seed):
    rng = np.random.default_rng(seed)
    acc = rng.normal(0, 0.5, (steps, batch, 2))
    pos = np.cumsum(np.cumsum(acc, 0) * DT, 0) * DT
    return pos, pos + rng.normal(0, 0.9, pos.shape)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


if __name__ == "__main__":
    smoother = TrackSmoother()
    for seed in range(4):
        truth, noisy = tracks(64, 2000, seed)
        filtered, smoothed = smoother.smooth(tf.constant(noisy))
        print(
            "raw %.3f filtered %.3f smoothed %.3f"
            % (rmse(noisy, truth), rmse(filtered[..., :2], truth), rmse(smoothed[..., :2], truth))
        )
