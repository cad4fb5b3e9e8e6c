"""Monte Carlo prices of Asian calls over a grid of strikes and volatilities."""
import tensorflow as tf

PATHS = 4000
STEPS = 40


@tf.function
def asian_call(strike, sigma, rate=0.02, maturity=1.0):
    dt = maturity / STEPS
    spot = tf.fill([PATHS], 100.0)
    running = tf.zeros([PATHS])
    for k in range(STEPS):
        z = tf.random.stateless_normal([PATHS], seed=[k, 99])
        spot = spot * tf.exp((rate - 0.5 * sigma ** 2) * dt + sigma * (dt ** 0.5) * z)
        running += spot
    payoff = tf.maximum(running / STEPS - strike, 0.0)
    return tf.exp(-rate * maturity) * tf.reduce_mean(payoff)


def surface():
    prices = {}
    for strike in range(80, 120, 5):
        for vol in (0.1, 0.15, 0.2, 0.25, 0.3):
            prices[strike, vol] = float(asian_call(float(strike), vol))
    return prices


grid = surface()
print("points", len(grid))
print("at the money %.4f" % grid[100, 0.2])
