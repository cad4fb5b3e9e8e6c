import numpy as np
import tensorflow as tf

VOCAB = list("abcdefghijklmnopqrstuvwxyz .,;'")


class Attention(tf.Module):
    def __init__(self, dim, heads, rng):
        super().__init__()
        self.heads, self.dim = heads, dim
        self.qkv = tf.Variable(rng.randn(dim, 3 * dim).astype(np.float32) / dim ** 0.5)
        self.proj = tf.Variable(rng.randn(dim, dim).astype(np.float32) / dim ** 0.5)

    def split(self, t):
        b, n = tf.shape(t)[0], tf.shape(t)[1]
        return tf.transpose(tf.reshape(t, (b, n, self.heads, self.dim // self.heads)), (0, 2, 1, 3))

    def __call__(self, x, mask, cache):
        q, k, v = (self.split(t) for t in tf.split(tf.tensordot(x, self.qkv, 1), 3, axis=-1))
        k, v = tf.concat([cache[0], k], 2), tf.concat([cache[1], v], 2)
        w = tf.matmul(q, k, transpose_b=True) / (self.dim / self.heads) ** 0.5 + mask
        o = tf.transpose(tf.matmul(tf.nn.softmax(w), v), (0, 2, 1, 3))
        return tf.tensordot(tf.reshape(o, tf.shape(x)), self.proj, 1), tf.stack([k, v])


class Block(tf.Module):
    def __init__(self, dim, heads, rng):
        super().__init__()
        self.attn = Attention(dim, heads, rng)
        self.w1 = tf.Variable(rng.randn(dim, 4 * dim).astype(np.float32) / dim ** 0.5)
        self.w2 = tf.Variable(rng.randn(4 * dim, dim).astype(np.float32) / (4 * dim) ** 0.5)

    @staticmethod
    def norm(x):
        m, v = tf.nn.moments(x, -1, keepdims=True)
        return (x - m) * tf.math.rsqrt(v + 1e-5)

    def __call__(self, x, mask, cache):
        a, cache = self.attn(self.norm(x), mask, cache)
        x = x + a
        return x + tf.tensordot(tf.nn.gelu(tf.tensordot(self.norm(x), self.w1, 1)), self.w2, 1), cache


class CharGPT(tf.Module):
    def __init__(self, layers=4, dim=128, heads=4, context=240, seed=5):
        super().__init__()
        rng = np.random.RandomState(seed)
        self.context = context
        self.tok = tf.Variable(rng.randn(len(VOCAB), dim).astype(np.float32))
        self.pos = tf.Variable(rng.randn(context, dim).astype(np.float32))
        self.blocks = [Block(dim, heads, rng) for _ in range(layers)]

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32),
                                  tf.TensorSpec((None, 2, None, None, None, None))])
    def logits(self, tokens, caches):
        n, past = tf.shape(tokens)[1], tf.shape(caches)[4]
        x = tf.gather(self.tok, tokens) + self.pos[past:past + n]
        mask = (1.0 - tf.linalg.band_part(tf.ones((n, past + n)), -1, past)) * -1e9
        new = []
        for i, block in enumerate(self.blocks):
            x, cache = block(x, mask, caches[i])
            new.append(cache)
        return tf.tensordot(Block.norm(x[:, -1]), self.tok, [[1], [1]]), tf.stack(new)

    def empty_cache(self, batch):
        attn = self.blocks[0].attn
        return tf.zeros((len(self.blocks), 2, batch, attn.heads, 0, attn.dim // attn.heads))


def pick(logits, rng, temperature):
    z = logits.astype(np.float64) / temperature
    p = np.exp(z - z.max(-1, keepdims=True))
    c = np.cumsum(p / p.sum(-1, keepdims=True), -1)
    return (rng.rand(len(c), 1) > c).sum(-1).clip(0, len(VOCAB) - 1)


def generate(model, prompts, length, temperature=1.5, seed=0):
    rng = np.random.RandomState(seed)
    tokens = np.array([[VOCAB.index(ch) for ch in p] for p in prompts], np.int32)
    fed, caches = tokens, model.empty_cache(len(tokens))
    while tokens.shape[1] < length:
        logits, caches = model.logits(fed, caches)
        nxt = pick(logits.numpy(), rng, temperature)
        fed = nxt[:, None].astype(np.int32)
        tokens = np.concatenate([tokens, nxt[:, None].astype(np.int32)], axis=1)
    return ["".join(VOCAB[t] for t in row) for row in tokens]


if __name__ == "__main__":
    model = CharGPT()
    prompts = ["once upon a", "the old man", "in the end,", "my brother "]
    for text in generate(model, prompts, length=235):
        print(text[:60])
