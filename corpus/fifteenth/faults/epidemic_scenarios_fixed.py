"""Stochastic SEIR on a network of towns, swept over intervention scenarios.

For each scenario (contact rate, latency, recovery) we integrate one season and
keep the attack rate, the peak prevalence and the day of the peak.
"""
import dataclasses
import itertools

import numpy as np
import tensorflow as tf

TOWNS = 400
DAYS = 180
SUBSTEPS = 4


@dataclasses.dataclass(frozen=True)
class Scenario:
    contact: float
    latency_days: float
    recovery_days: float

    def label(self):
        return f"R0={self.contact * self.recovery_days:4.2f}"


def travel_matrix(rng):
    position = rng.uniform(0, 100, (TOWNS, 2))
    size = rng.lognormal(9.0, 1.0, TOWNS)
    dist = np.linalg.norm(position[:, None] - position[None], axis=-1)
    flow = size[None, :] / (1.0 + dist) ** 2
    np.fill_diagonal(flow, 0.0)
    flow = 0.1 * flow / flow.sum(1, keepdims=True)
    flow[np.arange(TOWNS), np.arange(TOWNS)] = 0.9
    return flow.astype("float32"), size.astype("float32")


@tf.function
def season(flow, size, contact, latency, recovery):
    h = 1.0 / SUBSTEPS
    infected = tf.one_hot(0, TOWNS) * 20.0
    susceptible = size - infected
    exposed = tf.zeros_like(size)
    removed = tf.zeros_like(size)
    peak = tf.constant(0.0)
    peak_day = tf.constant(0)
    for day in tf.range(DAYS):
        for _ in range(SUBSTEPS):
            pressure = tf.linalg.matvec(flow, infected / size)
            new_exposed = h * contact * susceptible * pressure
            new_infected = h * exposed / latency
            new_removed = h * infected / recovery
            susceptible = susceptible - new_exposed
            exposed = exposed + new_exposed - new_infected
            infected = infected + new_infected - new_removed
            removed = removed + new_removed
        prevalence = tf.reduce_sum(infected) / tf.reduce_sum(size)
        if prevalence > peak:
            peak = prevalence
            peak_day = day
    attack = tf.reduce_sum(removed) / tf.reduce_sum(size)
    return attack, peak, peak_day


def scenarios():
    contacts = np.linspace(0.18, 0.60, 7)
    latencies = (2.0, 3.5, 5.0)
    recoveries = (4.0, 6.0, 8.0, 10.0)
    for c, l, r in itertools.product(contacts, latencies, recoveries):
        yield Scenario(float(c), l, r)


def main():
    flow, size = (tf.constant(a) for a in travel_matrix(np.random.default_rng(42)))
    table = []
    for s in scenarios():
        attack, peak, day = season(flow, size, tf.constant(s.contact),
                                   tf.constant(s.latency_days), tf.constant(s.recovery_days))
        table.append((s, float(attack), float(peak), int(day)))
    table.sort(key=lambda row: row[2])
    print(len(table), "scenarios")
    for s, attack, peak, day in table[:: len(table) // 6]:
        print(f"{s.label()}  latency {s.latency_days:3.1f}  attack {attack:.3f}  "
              f"peak {peak:.4f} on day {day}")


if __name__ == "__main__":
    main()
