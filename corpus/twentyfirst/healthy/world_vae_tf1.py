"""Convolutional VAE for frames of a racing game (World Models), with tf.compat.v1 sessions."""
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)


def conv(x, filters, name, seed):
    w = tf.get_variable(name + '_w', [4, 4, int(x.shape[-1]), filters],
                        initializer=tf.glorot_uniform_initializer(seed=seed))
    b = tf.get_variable(name + '_b', [filters], initializer=tf.zeros_initializer())
    return tf.nn.relu(tf.nn.conv2d(x, w, [1, 2, 2, 1], 'SAME') + b)


def deconv(x, filters, name, seed, activation=tf.nn.relu):
    size = int(x.shape[1]) * 2
    w = tf.get_variable(name + '_w', [4, 4, filters, int(x.shape[-1])],
                        initializer=tf.glorot_uniform_initializer(seed=seed))
    b = tf.get_variable(name + '_b', [filters], initializer=tf.zeros_initializer())
    shape = tf.stack([tf.shape(x)[0], size, size, filters])
    y = tf.nn.conv2d_transpose(x, w, shape, [1, 2, 2, 1], 'SAME')
    y.set_shape([None, size, size, filters])
    return activation(y + b)


def dense(x, units, name, seed):
    w = tf.get_variable(name + '_w', [int(x.shape[1]), units], initializer=tf.glorot_uniform_initializer(seed=seed))
    b = tf.get_variable(name + '_b', [units], initializer=tf.zeros_initializer())
    return tf.matmul(x, w) + b


class ConvVAE(object):
    def __init__(self, z_size=32, learning_rate=1e-3, kl_tolerance=0.5):
        self.z_size = z_size
        self.g = tf.Graph()
        with self.g.as_default():
            tf.set_random_seed(1)
            self.x = tf.placeholder(tf.uint8, [None, 64, 64, 3])
            frames = tf.cast(self.x, tf.float32) / 255.0
            h = conv(frames, 24, 'enc1', 1)
            h = conv(h, 48, 'enc2', 2)
            h = conv(h, 64, 'enc3', 3)
            h = conv(h, 96, 'enc4', 4)
            h = tf.reshape(h, [-1, 4 * 4 * 96])
            self.mu = dense(h, z_size, 'mu', 5)
            logvar = dense(h, z_size, 'logvar', 6)
            self.z = self.mu + tf.exp(logvar / 2.0) * tf.random_normal(tf.shape(self.mu), seed=7)
            h = tf.nn.relu(dense(self.z, 4 * 4 * 96, 'dec0', 8))
            h = tf.reshape(h, [-1, 4, 4, 96])
            h = deconv(h, 64, 'dec1', 9)
            h = deconv(h, 48, 'dec2', 10)
            h = deconv(h, 24, 'dec3', 11)
            self.y = deconv(h, 3, 'dec4', 12, tf.nn.sigmoid)
            self.r_loss = tf.reduce_mean(tf.reduce_sum(tf.square(frames - self.y), [1, 2, 3]))
            kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(self.mu) - tf.exp(logvar), 1)
            self.kl_loss = tf.reduce_mean(tf.maximum(kl, kl_tolerance * z_size))
            self.loss = self.r_loss + self.kl_loss
            self.train_op = tf.train.AdamOptimizer(learning_rate).minimize(self.loss)
            self.saver = tf.train.Saver(max_to_keep=1)
            self.sess = tf.Session(graph=self.g)
            self.sess.run(tf.global_variables_initializer())

    def encode(self, frames):
        return self.sess.run(self.mu, {self.x: frames})


def make_frames(n, seed=0):
    """A road seen from above, a car, and grass."""
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[:64, :64]
    frames = np.empty((n, 64, 64, 3), np.uint8)
    for i in range(n):
        bend, shift = rng.uniform(-20, 20), rng.uniform(20, 44)
        road = np.abs(xx - shift - bend * np.sin(yy / 20.0)) < 8
        frames[i] = np.where(road[..., None], (100, 100, 100), (90, 200, 90))
        y, x = rng.randint(40, 56), int(shift)
        frames[i, y:y + 6, x - 2:x + 2] = (220, 20, 20)
    return frames


def main():
    frames = make_frames(640)
    batch_size = 64
    rng = np.random.RandomState(3)
    vae = ConvVAE()
    with tempfile.TemporaryDirectory() as work:
        for epoch in range(6):
            order = rng.permutation(len(frames))
            losses = []
            for start in range(0, len(frames), batch_size):
                feed = {vae.x: frames[order[start:start + batch_size]]}
                loss, r_loss, kl_loss, _ = vae.sess.run([vae.loss, vae.r_loss, vae.kl_loss, vae.train_op], feed)
                losses.append((loss, r_loss, kl_loss))
            print('epoch %d  loss %.3f  recon %.3f  kl %.3f' % ((epoch + 1,) + tuple(np.mean(losses, axis=0))))
            vae.saver.save(vae.sess, os.path.join(work, 'vae'), global_step=epoch)
        codes = np.concatenate([vae.encode(frames[i:i + 256]) for i in range(0, len(frames), 256)])
    print('codes', codes.shape, np.round(codes.std(0)[:5], 3))


if __name__ == '__main__':
    main()
