"""word2vec with negative sampling, after the TensorFlow tutorial, on a made-up corpus."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, NUM_NS, SEED = 3000, 4, 42


def make_corpus(sentences=420, length=18):
    rng = np.random.default_rng(SEED)
    return np.minimum(rng.zipf(1.3, (sentences, length)), VOCAB - 1)


def generate_training_data(sequences, window_size, num_ns, vocab_size, seed):
    targets, contexts, labels = [], [], []
    for sequence in sequences:
        positive_skip_grams, _ = tf.keras.preprocessing.sequence.skipgrams(
            sequence, vocabulary_size=vocab_size, window_size=window_size, negative_samples=0
        )
        for target_word, context_word in positive_skip_grams:
            context_class = tf.expand_dims(tf.constant([context_word], dtype="int64"), 1)
            negative_sampling_candidates, _, _ = tf.random.log_uniform_candidate_sampler(
                true_classes=context_class,
                num_true=1,
                num_sampled=num_ns,
                unique=True,
                range_max=vocab_size,
                seed=seed,
                name="negative_sampling",
            )
            context = tf.concat([tf.squeeze(context_class, 1), negative_sampling_candidates], 0)
            label = tf.constant([1] + [0] * num_ns, dtype="int64")
            targets.append(target_word)
            contexts.append(context)
            labels.append(label)
    return np.array(targets), np.array(contexts), np.array(labels)


class Word2Vec(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim):
        super().__init__()
        self.target_embedding = layers.Embedding(vocab_size, embedding_dim)
        self.context_embedding = layers.Embedding(vocab_size, embedding_dim)

    def call(self, pair):
        target, context = pair
        word_emb = self.target_embedding(target)
        context_emb = self.context_embedding(context)
        return tf.einsum("be,bce->bc", word_emb, context_emb)


targets, contexts, labels = generate_training_data(make_corpus(), 2, NUM_NS, VOCAB, SEED)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels))
dataset = dataset.shuffle(10000).batch(1024, drop_remainder=True).cache().prefetch(tf.data.AUTOTUNE)
word2vec = Word2Vec(VOCAB, 64)
word2vec.compile(optimizer="adam", loss=tf.keras.losses.CategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
word2vec.fit(dataset, epochs=8, verbose=2)
