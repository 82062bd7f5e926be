# SPDX-License-Identifier: Apache-2.0
"""JAX by scope: each call of the jitted function is an iteration, and its operations lie below their scopes."""

STEPS = 20
SET_UP = ("(compilation)", "(autotuning)")
LEAST_BELOW_A_SCOPE = 0.85  # of a training step: XLA fuses operations without a name (docs/internals/measured.md)


def jax_scopes(runner, table):
    """Three scopes, sampled, with XLA's CUDA graphs and without."""
    for name, flags in (("jax_scopes", ""), ("jax_scopes_launched", "--xla_gpu_enable_command_buffer=")):
        report = recorded(runner, table, name, "scopes", flags, "jit_step")
        rows = {row["path"]: row for row in report["modules"]}
        step = rows.get("jit_step", {})
        parts = [rows.get(f"jit_step/{part}", {}) for part in ("attn", "mlp", "norm", "(compiled: no scope)")]
        table.near(f"{name}: bytes of the parts", step.get("dram_read_bytes", 0),
                   sum(part.get("dram_read_bytes") or 0 for part in parts), 0.02)
        for path, part in zip(("attn", "mlp"), parts):
            table.row(f"{name}: bytes of {path}", "> 0", part.get("dram_read_bytes"), bool(part.get("dram_read_bytes")))


def jax_training(runner, table):
    """Forward, backward and recomputation apart."""
    for name, passes in (("train", ("layers_0/mlp", "backward/layers_0/mlp", "backward/layers_0/recomputation/mlp")),
                         ("scan", ("layers/mlp", "backward/layers/mlp"))):
        report = recorded(runner, table, f"jax_{name}", name, "", "jit_train_step")
        rows = {row["path"]: row["gpu_ns"] for row in report["modules"]}
        for path in passes:
            table.row(f"jax_{name}: GPU time of {path}", "> 0", rows.get(f"jit_train_step/{path}"),
                      bool(rows.get(f"jit_train_step/{path}")))
        step, unnamed = rows.get("jit_train_step", 0), rows.get("jit_train_step/(compiled: no scope)", 0)
        table.at_least(f"jax_{name}: GPU time below a scope", LEAST_BELOW_A_SCOPE, round(1 - unnamed / max(1, step), 4))


def recorded(runner, table, name, program, flags, function):
    """The report of the program's iterations."""
    command = ["env", f"XLA_FLAGS={flags}", *runner.program("jax_models.py"), program, "--steps", str(STEPS)]
    runner.recorded(name, command, ["--counters", "sampled"], timeout_s=200)
    folder = runner.trace_folder(name)
    runner.validated(name, folder)
    report = runner.report(folder)["traces"][0]
    loop = report["opening"]["iteration"]
    table.equal(f"{name}: what is an iteration", function, loop["path"])
    table.equal(f"{name}: iterations", STEPS + 1, loop["count"] + loop["warm_up"])
    for finding in report["findings"]:
        table.row(f"{name}: findings", "none about set-up", finding["title"], finding.get("where") not in SET_UP)
    return report
