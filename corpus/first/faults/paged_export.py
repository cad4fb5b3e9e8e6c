"""Export a table page by page, with totals for every page."""
import numpy as np
import tensorflow as tf

ROWS = 16000
PAGE = 500


def table():
    rng = np.random.default_rng(2)
    cols = {
        "amount": rng.gamma(2.0, 30.0, size=ROWS).astype("float32"),
        "qty": rng.integers(1, 9, size=ROWS).astype("float32"),
    }
    ds = tf.data.Dataset.from_tensor_slices(cols)
    return ds.map(lambda r: tf.stack([r["amount"], r["qty"], r["amount"] * r["qty"]]))


def get_page(ds, number):
    rows = ds.skip(number * PAGE).take(PAGE)
    return np.stack(list(rows.as_numpy_iterator()))


def export(ds):
    totals = []
    for number in range(ROWS // PAGE):
        page = get_page(ds, number)
        totals.append(page[:, 2].astype("float64").sum())
    return totals


totals = export(table())
print("pages", len(totals), "largest %.2f grand total %.1f" % (max(totals), sum(totals)))
