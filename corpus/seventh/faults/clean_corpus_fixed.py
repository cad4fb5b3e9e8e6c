"""Cleans a support-ticket corpus: lower-casing, url/e-mail masking, de-duplication, length stats, TSV output."""
import argparse
import collections
import hashlib
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

WORDS = ("error login page account invoice payment refund crash update version screen button password "
         "reset slow upload download file server timeout customer please help thanks broken").split()


def fake_tickets(n, seed):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        words = [WORDS[k] for k in rng.integers(0, len(WORDS), rng.integers(6, 28))]
        if rng.random() < 0.3:
            words.insert(2, f"https://help.example.com/t/{rng.integers(1e5)}?ref=mail")
        if rng.random() < 0.2:
            words.append(f"user{rng.integers(1e4)}@mail.example.org")
        if rng.random() < 0.4:
            words.append(f"#{rng.integers(1e6)}!!")
        text = " ".join(words)
        out.append(text.upper() if rng.random() < 0.1 else text.capitalize() + ".")
    return out


class TicketCleaner:
    URL = r"https?://\S+"
    MAIL = r"[\w.]+@[\w.]+\w"
    NUMBER = r"\d+"
    PUNCT = r"[^a-z<> ]"

    def normalise(self, text):
        text = tf.strings.lower(text)
        text = tf.strings.regex_replace(text, self.URL, "<url>")
        text = tf.strings.regex_replace(text, self.MAIL, "<mail>")
        text = tf.strings.regex_replace(text, self.NUMBER, "<num>")
        text = tf.strings.regex_replace(text, self.PUNCT, " ")
        text = tf.strings.regex_replace(text, r"\s+", " ")
        return tf.strings.strip(text)

    def clean(self, tickets):
        return self.normalise(tf.constant(tickets)).numpy().tolist()


def deduplicate(texts):
    seen, keep = set(), []
    for t in texts:
        key = hashlib.md5(t).digest()
        if key not in seen:
            seen.add(key)
            keep.append(t)
    return keep


def statistics(texts):
    lengths = np.array([t.count(b" ") + 1 for t in texts])
    counts = collections.Counter()
    for t in texts:
        counts.update(t.split())
    return lengths, counts


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tickets", type=int, default=60000)
    ap.add_argument("--seed", type=int, default=8)
    args = ap.parse_args()
    tickets = fake_tickets(args.tickets, args.seed)
    t0 = time.time()
    cleaned = TicketCleaner().clean(tickets)
    print(f"cleaned {len(cleaned)} tickets in {time.time() - t0:.1f}s")
    unique = deduplicate(cleaned)
    lengths, counts = statistics(unique)
    print(f"{len(unique)} unique, median length {np.median(lengths):.0f}, p99 {np.percentile(lengths, 99):.0f}")
    print("top:", [(w.decode(), c) for w, c in counts.most_common(5)])
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "tickets.tsv")
        with open(path, "wb") as f:
            f.writelines(b"%d\t%s\n" % (i, t) for i, t in enumerate(unique))
        print(f"wrote {os.path.getsize(path) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
