#!/usr/bin/env python
"""Top-1 mixture-of-experts feed-forward block, GradientTape training loop.

    python moe_ffn_router.py --experts 8 --steps 60
"""
import argparse
import time

import numpy as np
import tensorflow as tf


class Expert(tf.Module):
    def __init__(self, d, hidden, rng, name=None):
        super().__init__(name=name)
        self.w1 = tf.Variable(rng.normal(0, d ** -0.5, (d, hidden)).astype(np.float32))
        self.b1 = tf.Variable(tf.zeros(hidden))
        self.w2 = tf.Variable(rng.normal(0, hidden ** -0.5, (hidden, d)).astype(np.float32))
        self.b2 = tf.Variable(tf.zeros(d))

    def __call__(self, x):
        return tf.nn.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2


class MoELayer(tf.Module):
    def __init__(self, n_experts, d, hidden, rng):
        super().__init__()
        self.n_experts = n_experts
        self.gate = tf.Variable(rng.normal(0, d ** -0.5, (d, n_experts)).astype(np.float32))
        self.experts = [Expert(d, hidden, rng, name=f"expert{i}") for i in range(n_experts)]

    def __call__(self, x):
        probs = tf.nn.softmax(x @ self.gate)
        choice = tf.argmax(probs, axis=-1, output_type=tf.int32)
        weight = tf.reduce_max(probs, axis=-1, keepdims=True)
        # every expert sees only the tokens that chose it
        rows = tf.dynamic_partition(tf.range(tf.shape(x)[0]), choice, self.n_experts)
        parts = tf.dynamic_partition(x, choice, self.n_experts)
        done = [expert(part) for expert, part in zip(self.experts, parts)]
        out = tf.dynamic_stitch(rows, done)
        load = tf.reduce_mean(tf.one_hot(choice, self.n_experts), axis=0)
        balance = self.n_experts * tf.reduce_sum(load * tf.reduce_mean(probs, axis=0))
        return x + weight * out, balance


class Net(tf.Module):
    def __init__(self, a):
        super().__init__()
        rng = np.random.default_rng(a.seed)
        self.blocks = [MoELayer(a.experts, a.dim, a.hidden, rng) for _ in range(a.blocks)]
        self.head = tf.Variable(rng.normal(0, 0.02, (a.dim, a.classes)).astype(np.float32))

    def __call__(self, x):
        aux = 0.0
        for b in self.blocks:
            x, bal = b(x)
            aux += bal
        return x @ self.head, aux


class Momentum:
    def __init__(self, variables, lr, mu=0.9):
        self.variables, self.lr, self.mu = variables, lr, mu
        self.v = [tf.Variable(tf.zeros_like(p), trainable=False) for p in variables]

    def apply(self, grads):
        for p, v, g in zip(self.variables, self.v, grads):
            v.assign(self.mu * v + g)
            p.assign_sub(self.lr * v)


def toy_task(a):
    rng = np.random.default_rng(a.seed + 1)
    centres = rng.normal(0, 1, (a.classes, a.dim)).astype(np.float32)
    y = rng.integers(0, a.classes, a.tokens * 8)
    x = centres[y] + rng.normal(0, 1.5, (len(y), a.dim)).astype(np.float32)
    return tf.constant(x), tf.constant(y.astype(np.int32))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--experts", type=int, default=8)
    p.add_argument("--dim", type=int, default=128)
    p.add_argument("--hidden", type=int, default=512)
    p.add_argument("--blocks", type=int, default=2)
    p.add_argument("--classes", type=int, default=20)
    p.add_argument("--tokens", type=int, default=2048)
    p.add_argument("--steps", type=int, default=80)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()
    x, y = toy_task(a)
    net = Net(a)
    opt = Momentum(net.trainable_variables, lr=0.01)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            logits, aux = net(xb)
            ce = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(yb, logits))
            loss = ce + 0.01 * aux
        opt.apply(tape.gradient(loss, net.trainable_variables))
        return ce

    t0 = time.time()
    for i in range(a.steps):
        k = (i % 8) * a.tokens
        ce = step(x[k:k + a.tokens], y[k:k + a.tokens])
        if i % 20 == 0 or i == a.steps - 1:
            print(f"step {i:4d}  ce {float(ce):.4f}  {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
