# SPDX-License-Identifier: Apache-2.0
"""Together with other tools that use CUPTI or the counters: no crash, and no empty trace without a message.

The results are in docs/internals/coexistence.md.
"""
import glob
import json
import os
import shutil
import subprocess

from checks.runner import REPOSITORY
from checks.windows import lost, placed, trace_lines

PATIENCE_S = 50
OWN_SIGN = "rangefinder: "


class Ran:
    """One run: exit code, stdout, stderr, our traces."""

    def __init__(self, runner, name, command, environment=None):
        self.folder = os.path.join(runner.out, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.out = os.path.join(self.folder, "trace")
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": self.folder, "RANGEFINDER_OUT": self.out,
                            "PYTHONPATH": os.path.join(REPOSITORY, "tools", "python"), **(environment or {})}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=self.environment, cwd=self.folder)
        self.command = command

    def end(self):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.stdout, self.stderr = self.process.communicate()
            self.stderr += f"\n(killed after {PATIENCE_S} s)"
        self.code = self.process.returncode
        with open(os.path.join(self.folder, "said"), "w", encoding="utf-8") as file:
            file.write(f"{' '.join(self.command)}\nexit code {self.code}\n{self.stdout}\n--\n{self.stderr}\n")
        return self

    def lines(self):
        for header in glob.glob(os.path.join(glob.escape(self.out), "**", "trace-00000.ndjson"), recursive=True) + \
                glob.glob(glob.escape(self.out) + ".[0-9]*/trace-00000.ndjson"):
            yield from trace_lines(os.path.dirname(header))

    def count(self, kind):
        return sum(1 for line in self.lines() if line["t"] == kind)

    def own_lines(self):
        return [line for line in self.stderr.splitlines() if line.startswith(OWN_SIGN)]


def run_verb(runner, *options):
    return [os.path.join(runner.bin, "rangefinder"), "run", "--counters", "off", *options, "--"]


def probe(runner, *more):
    """A program on one GPU; by default with few small copies."""
    return [os.path.join(runner.bin, "many_gpus"), "--gpus", "1", *(more or ("--mib", "16"))]


def both_ways(runner, tool, wrap):
    """(name, run) of the probe: under our `run` around the tool, and the tool around our `run`."""
    for name, command in ((f"run -- {tool}", [*run_verb(runner), *wrap, *probe(runner)]),
                          (f"{tool} run --", [*wrap, *run_verb(runner), *probe(runner)])):
        yield name, Ran(runner, name.replace(" ", "_"), command).end()


def told(ran, text):
    return [line for line in (ran.stdout + ran.stderr).splitlines() if text in line]


def check_ours(table, name, ran, kernels=None):
    """`kernels`: the expected number; None: at least one, or a message of ours gives the reason for none."""
    found, said = ran.count("kernel"), ran.own_lines()
    first = said[0][:160] if said else "no line"
    if kernels is not None:
        table.equal(f"{name}: kernels in our trace", kernels, found)
    else:
        table.row(f"{name}: our trace", "kernels, or a line that says why", f"{found} kernels; {first}",
                  found > 0 or bool(said))
    ends = [line for line in ran.lines() if line["t"] == "end"]
    losses = [lost(end) for end in ends]
    print(f"  ours: {found} kernels, {ran.count('range')} ranges, lost {losses}; {first}", flush=True)


def check_code(table, name, ran, code=0):
    table.equal(f"{name}: exit code", code, ran.code)
    if ran.code != code:
        print("  " + (ran.stdout + ran.stderr)[-600:].replace("\n", "\n  "), flush=True)


def torch_profiler(runner, table):
    """PyTorch's profiler keeps CUPTI after its use; with TEARDOWN_CUPTI=1 it releases CUPTI."""
    for order, start, teardown in (("before", "on", "0"), ("after", "on", "0"), ("yielded", "on", "0"),
                                   ("yielded", "on", "1"), ("after", "off", "0")):
        name = f"torch.profiler {order}, --start {start}, TEARDOWN_CUPTI={teardown}"
        command = [*run_verb(runner, "--start", start), *runner.program("with_torch_profiler.py"), order]
        ran = Ran(runner, f"torch_{order}_{start}_{teardown}", command, {"TEARDOWN_CUPTI": teardown}).end()
        check_code(table, name, ran)
        if ran.code == 0:
            check_torch_profiler(table, name, ran, order, start, teardown)
    # The hooks of --torch-modules hand CUPTI over and set the variable.
    name = "torch.profiler, --torch-modules"
    command = [*run_verb(runner, "--torch-modules"), *runner.program("with_torch_profiler.py"), "after"]
    ran = Ran(runner, "torch_modules", command).end()
    check_code(table, name, ran)
    if ran.code == 0:
        check_torch_profiler(table, name, ran, "yielded", "on", "1")


def check_torch_profiler(table, name, ran, order, start, teardown):
    seen = json.loads([line for line in ran.stdout.splitlines() if line.startswith("{")][-1])["torch_kernels"]
    warned = [line for line in ran.stderr.splitlines() if "CUPTI" in line and not line.startswith(OWN_SIGN)]
    if order == "yielded" or start == "off":
        table.row(f"{name}: torch has CUPTI", "> 0", seen, seen > 0)
    else:
        table.row(f"{name}: torch's trace", "kernels, or a line that says why",
                  f"{seen} kernels; {warned[0][:160] if warned else 'no line'}", seen > 0 or bool(warned))
    if start == "off":
        return
    check_ours(table, name, ran)
    if order == "yielded":
        warnings = [line for line in ran.stderr.splitlines() if "no longer recorded" in line]
        print(f"  warned: {warnings[:1]}", flush=True)
        found = windows_of(ran)
        table.equal(f"{name}: ours before", True, found["outside"])
        table.equal(f"{name}: ours meanwhile", False, found["profiled"])
        if teardown == "1":
            table.equal(f"{name}: ours behind", True, found["behind"])
        else:
            table.row(f"{name}: ours behind", "kernels, or a warning", f"{found['behind']}, {len(warnings)} warnings",
                      found["behind"] or bool(warnings))


def windows_of(ran):
    """The program's ranges that have kernels in our trace."""
    places = {path[-1] for line, path in placed(ran.lines()) if line["t"] == "kernel" and path}
    return {name: name in places for name in ("outside", "behind", "profiled")}


def around(runner, table, tool, wrap, said_by_tool):
    for name, ran in both_ways(runner, tool, wrap):
        check_code(table, name, ran)
        table.row(f"{name}: the program ran", "its JSON", '"probe"' in ran.stdout, '"probe"' in ran.stdout)
        check_ours(table, name, ran)
        result = told(ran, said_by_tool)
        table.row(f"{name}: the tool's own result", said_by_tool, result[:1], bool(result))


def installed(table, tool):
    path = shutil.which(tool) or next(iter(glob.glob(f"/usr/local/cuda*/bin/{tool}")), None)
    if path is None:
        print(f"  skipped: {tool} is not installed", flush=True)
    return path


def ncu(runner, table):
    """It refuses to start with an injected library, and reports that."""
    path = installed(table, "ncu")
    if path is None:
        return
    wrap = [path, "--target-processes", "all", "--metrics", "dram__bytes_read.sum", "--launch-count", "2"]
    for name, ran in both_ways(runner, "ncu", wrap):
        cure = told(ran, "CUDA_INJECTION64_PATH")
        table.row(f"{name}: refused by ncu", "exit code not 0, and a line with the cure", f"{ran.code}; {cure[:1]}",
                  ran.code != 0 and bool(cure))
        check_ours(table, name, ran)


def nsys(runner, table):
    if path := installed(table, "nsys"):
        around(runner, table, "nsys", [path, "profile", "--stats=true", "-t", "cuda,nvtx", "-f", "true"], "copy")


def sanitizer(runner, table):
    if path := installed(table, "compute-sanitizer"):
        around(runner, table, "compute-sanitizer", [path, "--target-processes", "all"], "ERROR SUMMARY")


def cuda_gdb(runner, table):
    if path := installed(table, "cuda-gdb"):
        around(runner, table, "cuda-gdb", [path, "-batch", "-ex", "set follow-fork-mode child", "-ex",
                                           "set detach-on-fork on", "-ex", "run", "--args"], "exited normally")


def second_copy(runner, table):
    """A second copy of the library, injected by NVTX and by the driver."""
    copy = os.path.join(runner.out, "copy", "librangefinder.so")
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copy(runner.injection_library, copy)
    for name, variables in (("second copy as NVTX's", {"NVTX_INJECTION64_PATH": copy}),
                            ("second copy preloaded", {"LD_PRELOAD": copy})):
        environment = {"CUDA_INJECTION64_PATH": runner.injection_library,
                       "NVTX_INJECTION64_PATH": runner.injection_library} | variables
        ran = Ran(runner, name.replace(" ", "_").replace("'", ""), probe(runner), environment).end()
        check_code(table, name, ran)
        # Each kernel is recorded once, for any number of copies.
        check_ours(table, name, ran, kernels=5)


def one_gpu_twice(runner, table):
    """Two processes with counters on one GPU: both have traces, at least one has bytes."""
    for mode in ("sampled", "exact"):
        command = [os.path.join(runner.bin, "rangefinder"), "run", "--quiet", "--counters", mode, "--",
                   *probe(runner, "--mib", "512", "--repeat", "4000")]
        both = [Ran(runner, f"twice_{mode}_{i}", command) for i in range(2)]
        modes = []
        for i, ran in enumerate(both):
            ran.end()
            name = f"one GPU, two processes, {mode}, process {i}"
            check_code(table, name, ran)
            header = next((line for line in ran.lines() if line["t"] == "header"), {})
            modes.append(header.get("counters"))
            refused = header.get("counters") == "refused"
            print(f"  counters {header.get('counters')}: {header.get('counters_reason', '')}", flush=True)
            table.row(f"{name}: kernels", "> 0", ran.count("kernel"), ran.count("kernel") > 0)
            kind = "samples" if mode == "sampled" else "exact"
            measured = sum(1 for line in ran.lines() if line["t"] == kind and "unmeasured" not in line)
            table.row(f"{name}: bytes, or a line", f"{kind} lines, or why not",
                      f"{measured} lines; {(ran.own_lines() or ['no line'])[0][:140]}",
                      measured > 0 or bool(ran.own_lines()) or refused)
        print(f"  {mode}: {modes}", flush=True)
