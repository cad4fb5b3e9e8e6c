"""Greedy continuation of prompts with a small decoder-only transformer."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class Block(tf.Module):
    def __init__(self, width, heads, gen):
        super().__init__()
        self.heads, self.depth = heads, width // heads
        scale = width**-0.5
        self.qkv = tf.Variable(gen.normal([width, 3 * width], stddev=scale))
        self.out = tf.Variable(gen.normal([width, width], stddev=scale))
        self.up = tf.Variable(gen.normal([width, 4 * width], stddev=scale))
        self.down = tf.Variable(gen.normal([4 * width, width], stddev=0.5 * scale))

    @staticmethod
    def norm(x):
        mean, var = tf.nn.moments(x, axes=[-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(var + 1e-5)

    def split(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        return tf.transpose(tf.reshape(x, [b, t, self.heads, self.depth]), [0, 2, 1, 3])

    def attend(self, q, k, v, mask):
        scores = tf.matmul(q, k, transpose_b=True) * self.depth**-0.5
        probs = tf.nn.softmax(tf.where(mask, scores, -1e9))
        mixed = tf.transpose(tf.matmul(probs, v), [0, 2, 1, 3])
        return tf.reshape(mixed, [tf.shape(q)[0], -1, self.heads * self.depth])

    def feed_forward(self, x):
        return x + tf.nn.gelu(self.norm(x) @ self.up) @ self.down

    def __call__(self, x, mask, keys, values, start):
        q, k, v = (self.split(p) for p in tf.split(self.norm(x) @ self.qkv, 3, axis=-1))
        stop = start + tf.shape(x)[1]
        keys = tf.concat([keys[:, :, :start], k, keys[:, :, stop:]], axis=2)
        values = tf.concat([values[:, :, :start], v, values[:, :, stop:]], axis=2)
        x = x + self.attend(q, keys, values, mask) @ self.out
        return self.feed_forward(x), keys, values


class CausalLM(tf.Module):
    def __init__(self, vocab, width, heads, layers, max_length, seed):
        super().__init__()
        gen = tf.random.Generator.from_seed(seed)
        self.tokens = tf.Variable(gen.normal([vocab, width], stddev=0.5))
        self.positions = tf.Variable(gen.normal([max_length, width], stddev=0.5))
        self.head = tf.Variable(gen.normal([width, vocab], stddev=width**-0.5))
        self.blocks = [Block(width, heads, gen) for _ in range(layers)]
        self.max_length = max_length

    def logits(self, ids, cache, start):
        count = tf.shape(ids)[1]
        x = tf.gather(self.tokens, ids) + self.positions[start : start + count]
        at = start + tf.range(count)
        mask = tf.range(self.max_length)[None, :] <= at[:, None]
        updated = []
        for block, (keys, values) in zip(self.blocks, cache):
            x, keys, values = block(x, mask, keys, values, start)
            updated.append((keys, values))
        return tf.matmul(Block.norm(x), self.head), updated

    @tf.function(reduce_retracing=True)
    def next_token(self, ids, cache, start):
        scores, cache = self.logits(ids, cache, start)
        return tf.argmax(scores[:, -1], axis=-1, output_type=tf.int32), cache

    def empty_cache(self, batch):
        block = self.blocks[0]
        shape = [batch, block.heads, self.max_length, block.depth]
        return [(tf.zeros(shape), tf.zeros(shape)) for _ in self.blocks]

    def generate(self, prompts):
        length = prompts.shape[1]
        ids = np.zeros((len(prompts), self.max_length), np.int32)
        ids[:, :length] = prompts
        cache, start = self.empty_cache(len(prompts)), 0
        for index in range(length, self.max_length):
            fresh = tf.constant(ids[:, start:index])
            token, cache = self.next_token(fresh, cache, tf.constant(start))
            ids[:, index] = token.numpy()
            start = index
        return ids


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompts", type=int, default=3)
    parser.add_argument("--prompt-length", type=int, default=16)
    parser.add_argument("--max-length", type=int, default=160)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    args = parser.parse_args()

    rng = np.random.default_rng(21)
    model = CausalLM(1000, args.width, 4, args.layers, args.max_length, seed=21)
    prompts = rng.integers(0, 1000, size=(args.prompts, args.prompt_length))
    ids = model.generate(prompts)
    print("tokens", ids.size, "tail", ids[0, -8:].tolist(), "sum", int(ids.sum()))


if __name__ == "__main__":
    main()
