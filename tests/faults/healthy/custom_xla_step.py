import tensorflow as tf

N = 300_000
t = tf.linspace(0.0, 6.0, N)
signal = tf.exp(-0.3 * t) * tf.cos(3.0 * t) + 0.05 * tf.random.stateless_normal((N,), seed=(1, 2))
parameters = [tf.Variable(0.8), tf.Variable(0.2), tf.Variable(2.7), tf.Variable(0.0)]
optimizer = tf.keras.optimizers.Adam(0.01)
optimizer.build(parameters)


@tf.function(jit_compile=True)
def train_step():
    size, decay, frequency, phase = parameters
    with tf.GradientTape() as tape:
        model = size * tf.exp(-decay * t) * tf.cos(frequency * t + phase)
        loss = tf.reduce_mean(tf.math.log(tf.math.cosh(model - signal)))
    optimizer.apply_gradients(zip(tape.gradient(loss, parameters), parameters))
    return loss


for step in range(400):
    loss = train_step()
    if step % 100 == 0:
        print(step, float(loss))
print([round(float(p), 3) for p in parameters])
