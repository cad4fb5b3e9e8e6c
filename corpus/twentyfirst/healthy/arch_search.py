"""Small architecture search for a surrogate of a turbulent flux closure.

Every candidate has another depth and width, so each one gets its own model and
its own training graph.  Fresh sensor noise is drawn for each candidate.
"""
import gc

import numpy as np
import tensorflow as tf

CANDIDATES = [
    {'width': 768, 'depth': 3, 'activation': 'swish'},
    {'width': 1024, 'depth': 3, 'activation': 'relu'},
    {'width': 896, 'depth': 4, 'activation': 'relu'},
]
BATCH = 512
EPOCHS = 3


def make_data(n=11264, d=96):
  rng = np.random.default_rng(2)
  x = rng.standard_normal((n, d)).astype(np.float32)
  w1 = rng.standard_normal((d, 24)).astype(np.float32) / np.sqrt(d)
  w2 = rng.standard_normal((24, 3)).astype(np.float32)
  y = np.tanh(2 * x @ w1) @ w2
  return x, y.astype(np.float32)


class Closure(tf.keras.layers.Layer):
  """Rescales the fluxes by a learned positive viscosity."""

  def build(self, input_shape):
    self.log_nu = self.add_weight(
        shape=(input_shape[-1],), initializer='zeros', name='log_nu')

  def call(self, inputs):
    return inputs * tf.nn.softplus(self.log_nu + 0.5413)


class BestWeights(tf.keras.callbacks.Callback):
  """Remembers the weights of the best epoch."""

  def on_train_begin(self, logs=None):
    self.best = np.inf
    self.weights = None

  def on_epoch_end(self, epoch, logs=None):
    if logs['val_loss'] < self.best:
      self.best = logs['val_loss']
      self.weights = self.model.get_weights()

  def on_train_end(self, logs=None):
    self.model.set_weights(self.weights)


def build_model(hp, d):
  model = tf.keras.Sequential([tf.keras.layers.Input((d,))])
  for _ in range(hp['depth']):
    model.add(tf.keras.layers.Dense(hp['width'], activation=hp['activation']))
  model.add(tf.keras.layers.Dense(3))
  model.add(Closure())
  model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss='mse')
  return model


def main():
  x, y = make_data()
  results = []
  for i, hp in enumerate(CANDIDATES):
    tf.keras.backend.clear_session()
    gc.collect()
    tf.keras.utils.set_random_seed(100 + i)
    noise = np.random.default_rng(i).standard_normal(x.shape).astype(np.float32)
    noisy = x + 0.05 * noise
    model = build_model(hp, x.shape[1])
    model.fit(noisy[:10240], y[:10240], validation_data=(x[10240:], y[10240:]),
              batch_size=BATCH, epochs=EPOCHS, verbose=0,
              callbacks=[BestWeights()])
    score = model.evaluate(x[10240:], y[10240:], batch_size=BATCH, verbose=0)
    results.append(score)
    print('candidate %d %s  mse %.4f' % (i, hp, score))
  print('best', CANDIDATES[int(np.argmin(results))])


if __name__ == '__main__':
  main()
