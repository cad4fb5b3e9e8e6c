"""Decode sleep stages from night recordings with a fixed 6-state Gaussian HMM (Viterbi)."""
import numpy as np
import tensorflow as tf

STATES = ["wake", "drowsy", "light", "deep", "rem", "artefact"]
K = len(STATES)
DIM = 5
EPOCHS_PER_NIGHT = 2400
NIGHTS_PER_PATIENT = 4
PATIENTS = 5


class GaussianHMM:
    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        trans = np.full((K, K), 0.01) + np.eye(K) * 0.95
        trans += rng.uniform(0, 0.01, (K, K))
        self.log_trans = tf.constant(np.log(trans / trans.sum(1, keepdims=True)), tf.float32)
        self.log_init = tf.constant(np.log(np.full(K, 1.0 / K)), tf.float32)
        self.means = tf.constant(rng.normal(0, 1.2, (K, DIM)), tf.float32)
        self.log_std = tf.constant(rng.uniform(-0.3, 0.3, (K, DIM)), tf.float32)

    def log_emission(self, obs):
        z = (obs[:, :, None, :] - self.means) / tf.exp(self.log_std)
        return tf.reduce_sum(-0.5 * z * z - self.log_std - 0.9189385, axis=-1)

    def viterbi(self, obs):
        """obs: (nights, time, dim) -> (nights, time) most likely states."""
        emission = tf.transpose(self.log_emission(obs), [1, 0, 2])
        n = emission.shape[0]
        score = self.log_init + emission[0]
        back = tf.TensorArray(tf.int32, size=n - 1)
        for t in tf.range(1, n):
            cand = score[:, :, None] + self.log_trans
            back = back.write(t - 1, tf.argmax(cand, axis=1, output_type=tf.int32))
            score = tf.reduce_max(cand, axis=1) + emission[t]
        state = tf.argmax(score, axis=1, output_type=tf.int32)
        path = tf.TensorArray(tf.int32, size=n)
        path = path.write(n - 1, state)
        for t in tf.range(n - 2, -1, -1):
            state = tf.gather(back.read(t), state, axis=1, batch_dims=1)
            path = path.write(t, state)
        return tf.transpose(path.stack()), tf.reduce_max(score, axis=1)


def record_nights(hmm, rng):
    trans = np.exp(hmm.log_trans.numpy())
    cum = np.cumsum(trans, axis=1)
    means, std = hmm.means.numpy(), np.exp(hmm.log_std.numpy())
    states = np.zeros((NIGHTS_PER_PATIENT, EPOCHS_PER_NIGHT), int)
    draws = rng.random((NIGHTS_PER_PATIENT, EPOCHS_PER_NIGHT))
    for t in range(1, EPOCHS_PER_NIGHT):
        states[:, t] = np.minimum((cum[states[:, t - 1]] < draws[:, t, None]).sum(1), K - 1)
    obs = means[states] + rng.normal(size=(*states.shape, DIM)) * std[states]
    return obs.astype(np.float32), states


def main():
    hmm = GaussianHMM()
    rng = np.random.default_rng(5)
    for patient in range(PATIENTS):
        obs, truth = record_nights(hmm, rng)
        path, loglik = hmm.viterbi(tf.constant(obs))
        path = path.numpy()
        share = np.bincount(path.ravel(), minlength=K) / path.size
        print("patient %02d  agreement %.3f  loglik %.1f  " % (patient, np.mean(path == truth), loglik.numpy().mean())
              + " ".join(f"{s}={p:.2f}" for s, p in zip(STATES, share)))


if __name__ == "__main__":
    main()
