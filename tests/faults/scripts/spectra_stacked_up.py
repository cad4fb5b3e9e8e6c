import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
weights = tf.constant(rng.normal(size=(96, 192)).astype("float32"))


@tf.function
def spectrum(signal):
    return tf.abs(tf.matmul(tf.sin(signal), weights))


spectra = np.zeros((0, 192), "float32")
for number in range(900):
    signal = rng.normal(size=(64, 96)).astype("float32")
    spectra = np.vstack([spectra, spectrum(signal).numpy()])  # FAULT
print("spectra", spectra.shape, round(float(spectra.mean()), 2))

# /// fault
# style = "custom"
# kind = "time"
# cause = "np.vstack in the loop copies all spectra so far for each new batch of them"
# codes = ["STP014"]
# families = ["step"]
# source = "Stack Overflow questions on numpy.append in a loop; class 'inefficient API use' of arXiv 2112.01771"
# renamed = true
# ///
