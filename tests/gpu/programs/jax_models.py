# SPDX-License-Identifier: Apache-2.0
"""Programs of JAX. `--steps N`: how many steps run behind the first.

jax_models.py scopes    one jitted function of three named scopes
jax_models.py train     four layers, each under jax.checkpoint; forward, backward, update in one jitted step
jax_models.py scan      the same for eight layers in lax.scan, without jax.checkpoint

Prints one JSON line."""
import argparse
import functools
import json

import jax
import jax.numpy as jnp


def attention(x, p):
    with jax.named_scope("attn"):
        q, k, v = (jnp.einsum("bsd,dhe->bshe", x, p[n]) for n in ("q", "k", "v"))
        weights = jax.nn.softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k) * q.shape[-1] ** -0.5, -1)
        return x + jnp.einsum("bqhe,hed->bqd", jnp.einsum("bhqk,bkhe->bqhe", weights, v), p["o"])


def mlp(x, p):
    with jax.named_scope("mlp"):
        return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def norm(x):
    with jax.named_scope("norm"):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer(x, p):
    return mlp(norm(attention(norm(x), p)), p)


def weights(key, layers, width, heads):
    shapes = {"q": (width, heads, width // heads), "k": (width, heads, width // heads),
              "v": (width, heads, width // heads), "o": (heads, width // heads, width),
              "up": (width, 4 * width), "down": (4 * width, width)}
    keys = jax.random.split(key, len(shapes))
    return {n: jax.random.normal(k, (layers, *s), jnp.bfloat16) * 0.02
            for (n, s), k in zip(shapes.items(), keys)}


def loss_of_layers(params, x, checkpoint):
    run = jax.checkpoint(layer) if checkpoint else layer
    for i in range(params["q"].shape[0]):
        with jax.named_scope(f"layers_{i}"):
            x = run(x, jax.tree.map(lambda w: w[i], params))
    with jax.named_scope("loss"):
        return jnp.mean(jnp.square(x.astype(jnp.float32)))


def loss_of_scan(params, x):
    with jax.named_scope("layers"):
        x, _ = jax.lax.scan(lambda x, p: (layer(x, p), None), x, params)
    with jax.named_scope("loss"):
        return jnp.mean(jnp.square(x.astype(jnp.float32)))


def train(steps, layers, loss):
    key = jax.random.PRNGKey(0)
    params = weights(key, layers, 2048, 16)
    x = jax.random.normal(key, (8, 512, 2048), jnp.bfloat16)

    @jax.jit
    def train_step(params, x):
        value, grads = jax.value_and_grad(loss)(params, x)
        with jax.named_scope("optimizer"):
            return value, jax.tree.map(lambda w, g: w - 1e-3 * g, params, grads)

    for _ in range(steps + 1):
        value, params = train_step(params, x)
    return float(value)


def scopes(steps):
    key = jax.random.PRNGKey(0)
    w = [jax.random.normal(key, s, jnp.bfloat16) * 0.02
         for s in ((4096, 4096), (4096, 4096), (4096, 16384), (16384, 4096))]
    x = jax.random.normal(key, (2048, 4096), jnp.bfloat16)

    @jax.jit
    def step(x, w):
        with jax.named_scope("attn"):
            a = jax.nn.softmax(x @ w[0], -1) @ w[1]
        with jax.named_scope("mlp"):
            m = jax.nn.gelu(a @ w[2]) @ w[3]
        return norm(m)

    for _ in range(steps + 1):
        x = step(x, w)
    return float(x.astype(jnp.float32).mean())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program", choices=("scopes", "train", "scan"))
    options.add_argument("--steps", type=int, default=20)
    options.add_argument("--layers", type=int)
    given = options.parse_args()
    value = {"scopes": scopes,
             "train": lambda n: train(n, given.layers or 4, functools.partial(loss_of_layers, checkpoint=True)),
             "scan": lambda n: train(n, given.layers or 8, loss_of_scan)}[given.program](given.steps)
    print(json.dumps({"program": given.program, "steps": given.steps, "value": value}))


main()
