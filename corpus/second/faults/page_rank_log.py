"""Rank pages of several made-up webs by power iteration."""
import argparse
import logging
import sys

import numpy as np
import tensorflow as tf

log = logging.getLogger("rank")


def make_web(rng, pages, links):
    web = np.zeros((pages, pages), dtype="float32")
    for page in range(pages):
        web[rng.choice(pages, links, replace=False), page] = 1.0 / links
    return web


@tf.function
def spread(web, ranks, damping):
    fresh = damping * tf.linalg.matvec(web, ranks)
    fresh += (1.0 - tf.reduce_sum(fresh)) / tf.cast(tf.size(ranks), tf.float32)
    return fresh, tf.reduce_sum(tf.abs(fresh - ranks))


def full_text(ranks):
    return np.array2string(ranks.numpy(), threshold=sys.maxsize, precision=7)


def rank_pages(web, damping, tolerance, limit):
    pages = web.shape[0]
    ranks = tf.fill([pages], 1.0 / pages)
    for step in range(limit):
        ranks, change = spread(web, ranks, damping)
        log.debug("step %d ranks %s" % (step, full_text(ranks)))
        if change < tolerance:
            break
    return ranks, step + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--webs", type=int, default=16)
    parser.add_argument("--pages", type=int, default=1400)
    parser.add_argument("--loglevel", default="INFO")
    args = parser.parse_args()
    logging.basicConfig(stream=sys.stdout, format="%(name)s %(message)s")
    log.setLevel(args.loglevel)

    rng = np.random.default_rng(50)
    for number in range(args.webs):
        web = tf.constant(make_web(rng, args.pages, 6))
        ranks, steps = rank_pages(web, tf.constant(0.97), 1e-9, 60)
        log.info("web %d: %d steps, best page %d", number, steps, int(tf.argmax(ranks)))


if __name__ == "__main__":
    main()
