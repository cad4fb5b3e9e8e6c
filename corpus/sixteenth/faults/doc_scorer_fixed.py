"""Scores support articles against a set of topics with attention pooling over their word vectors."""
import tensorflow as tf
import numpy as np

DIM, TOPICS, VOCAB = 64, 12, 5000
HEADS = 4


class TopicScorer(tf.Module):
    def __init__(self, seed=0):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        self.vectors = tf.Variable(g.normal([VOCAB, DIM]))
        self.query = [tf.Variable(g.normal([DIM, DIM // HEADS]) / 8.0) for _ in range(HEADS)]
        self.key = [tf.Variable(g.normal([DIM, DIM // HEADS]) / 8.0) for _ in range(HEADS)]
        self.value = [tf.Variable(g.normal([DIM, DIM // HEADS]) / 8.0) for _ in range(HEADS)]
        self.topics = tf.Variable(g.normal([DIM, TOPICS]) / 8.0)

    def attend(self, x):
        parts = []
        for q, k, v in zip(self.query, self.key, self.value):
            a = tf.matmul(x @ q, x @ k, transpose_b=True) / np.sqrt(DIM / HEADS)
            parts.append(tf.nn.softmax(a) @ (x @ v))
        h = x + tf.concat(parts, axis=-1)
        mean, var = tf.nn.moments(h, axes=[-1], keepdims=True)
        return (h - mean) * tf.math.rsqrt(var + 1e-5)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def score(self, ids):
        x = tf.gather(self.vectors, ids)
        for _ in range(3):
            x = self.attend(x)
        pooled = tf.reduce_mean(x, axis=0, keepdims=True)
        return tf.nn.softmax(pooled @ self.topics)[0]


def articles(n, rng):
    """Word ids of each article, as they come out of the tokenizer."""
    lengths = rng.permutation(np.arange(40, 40 + 2 * n, 2))
    for m in lengths:
        yield (rng.zipf(1.3, size=m) % VOCAB).astype("int32")


def main():
    rng = np.random.default_rng(8)
    scorer = TopicScorer()
    best = np.zeros(TOPICS, int)
    total = np.zeros(TOPICS)
    n_words = 0
    n = 0
    for ids in articles(90, rng):
        s = scorer.score(tf.constant(ids)).numpy()
        best[s.argmax()] += 1
        total += s
        n_words += len(ids)
        n += 1
    print(n, "articles,", n_words, "words")
    for t in np.argsort(-total):
        print(f"topic {t:2d}: best of {best[t]:3d} articles, mean score {total[t] / n:.4f}")


if __name__ == "__main__":
    main()
