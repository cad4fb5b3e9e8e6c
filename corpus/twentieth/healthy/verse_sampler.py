"""Sample verses from a small character GRU, several continuations per prompt."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

CHARS = " abcdefghijklmnopqrstuvwxyz.,\n"
UNITS = 384
LENGTH = 260
SAMPLES = 24


class CharModel(tf.Module):
    def __init__(self, seed=3):
        super().__init__()
        tf.keras.utils.set_random_seed(seed)
        self.embedding = tf.Variable(tf.random.normal([len(CHARS), 64], stddev=0.5))
        self.cell = tf.keras.layers.GRUCell(UNITS)
        self.cell.build((None, 64))
        self.head = tf.Variable(tf.random.normal([UNITS, len(CHARS)], stddev=0.25))

    @tf.function(input_signature=[
        tf.TensorSpec([None], tf.int32),
        tf.TensorSpec([None, UNITS], tf.float32),
        tf.TensorSpec([], tf.float32),
        tf.TensorSpec([2], tf.int32)])
    def step(self, ids, state, temperature, seed):
        x = tf.gather(self.embedding, ids)
        output, states = self.cell(x, [state])
        logits = tf.matmul(output, self.head) / temperature
        noise = tf.random.stateless_uniform(tf.shape(logits), seed, 1e-6, 1.0)
        next_ids = tf.argmax(logits - tf.math.log(-tf.math.log(noise)), -1, tf.int32)
        return next_ids, states[0]


def generate(model, prompt, temperature, seed):
    ids = [CHARS.index(c) for c in prompt]
    state = tf.zeros([SAMPLES, UNITS])
    for i in ids:
        token, state = model.step(tf.fill([SAMPLES], i), state, temperature, tf.constant([seed, 0]))
    out = []
    for t in range(LENGTH):
        token, state = model.step(token, state, temperature, tf.stack([seed, t + 1]))
        out.append(token)
    text = tf.stack(out, 1).numpy()
    return ["".join(CHARS[i] for i in row) for row in text]


def main():
    model = CharModel()
    prompts = ["the moon", "a quiet sea", "my old house", "snow on the hill"]
    seen = 0
    for n, prompt in enumerate(prompts):
        for k, temperature in enumerate((0.5, 0.8, 1.1)):
            verses = generate(model, prompt, tf.constant(temperature), 10 * n + k)
            seen += len(verses)
            if k == 0:
                print(prompt, "|", verses[0][:40].replace("\n", "/"))
    print("verses", seen)


if __name__ == "__main__":
    main()
