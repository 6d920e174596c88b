#!/usr/bin/env python3
"""peer_jax.py <workload> <threads> <seconds>: JAX jit, arrays donated; prints one JSON object as dlc-bench does."""
import json
import sys
import time

import jax
import jax.numpy as jnp


def conv(x, weight, bias):
    return jax.lax.conv_general_dilated(x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + bias


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cnn_loss(p, x, y):
    x = pool(jax.nn.relu(conv(x, p["w1"], p["b1"])))
    x = pool(jax.nn.relu(conv(x, p["w2"], p["b2"])))
    logits = x.reshape(x.shape[0], -1) @ p["w3"] + p["b3"]
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], axis=1))


def net_loss(p, x, y):
    return jnp.mean((jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"] - y) ** 2)


def normal(seed, *shape):
    return jax.random.normal(jax.random.PRNGKey(seed), shape) * 0.1


def cnn():
    p = {"w1": normal(1, 3, 3, 3, 32), "b1": jnp.zeros(32), "w2": normal(2, 3, 3, 32, 64), "b2": jnp.zeros(64),
         "w3": normal(3, 64 * 8 * 8, 10), "b3": jnp.zeros(10)}
    return cnn_loss, p, 0.9, normal(4, 64, 32, 32, 3), jnp.arange(64) % 10


def small_net():
    p = {"w1": normal(1, 10, 20), "b1": jnp.zeros(20), "w2": normal(2, 20, 10), "b2": jnp.zeros(10)}
    return net_loss, p, 0.0, normal(3, 20, 10), normal(4, 20, 10)


def spread(times):
    """Median and the tenth and ninetieth percentile, in seconds."""
    times = sorted(times)
    return {key: times[int(share * (len(times) - 1))] for key, share in (("median", 0.5), ("low", 0.1), ("high", 0.9))}


def main():
    workload, seconds = sys.argv[1], float(sys.argv[3])
    loss_of, p, momentum, x, y = {"cnn": cnn, "small_net": small_net}[workload]()
    state = jax.tree.map(jnp.zeros_like, p)

    def step(p, state, x, y):
        loss, g = jax.value_and_grad(loss_of)(p, x, y)
        if momentum:
            state = jax.tree.map(lambda b, d: momentum * b + d, state, g)
            g = state
        return jax.tree.map(lambda w, d: w - 0.01 * d, p, g), state, loss

    step = jax.jit(step, donate_argnums=(0, 1))
    times = []
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or len(times) < 12:
        start = time.perf_counter()
        p, state, loss = step(p, state, x, y)
        loss.block_until_ready()
        times.append(time.perf_counter() - start)
    print(json.dumps({"name": f"JAX {jax.__version__} jit", "first": times[0], **spread(times[10:])}))


main()
