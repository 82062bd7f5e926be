# SPDX-License-Identifier: Apache-2.0
"""Windows of a running program: on time, complete, and without growth over many windows."""
import collections
import glob
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 30
FIRST_PATIENCE_S = 5
START_S = STOP_S = 0.5  # from start to the first record on disk; from stop to the complete file, with an idle GPU
CYCLES = int(os.environ.get("RANGEFINDER_WINDOW_CYCLES", "1000"))
GROWTH_KIB, GROWTH_GPU_MIB = 8192, 64


class Control:
    """A client of the control socket of a process; waits until the socket is there."""

    def __init__(self, runtime, process, patience_s=PATIENCE_S):
        path, deadline = f"{runtime}/rangefinder/{process.pid}.sock", time.monotonic() + patience_s
        while not os.path.exists(path):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"no control socket (exit code {process.poll()})")
            time.sleep(0.01)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience_s)
        self.socket.connect(path)
        self.lines = self.socket.makefile("r")

    def ask(self, command, **fields):
        """The answer, after any lines of a subscription."""
        self.socket.sendall((json.dumps({"command": command} | fields) + "\n").encode())
        answer = {}
        while "ok" not in answer:
            answer = json.loads(self.lines.readline())
        if not answer["ok"]:
            raise RuntimeError(f"{command}: {answer['error']}")
        return answer

    def close(self):
        self.lines.close()
        self.socket.close()


def injected_environment(library, runtime, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RANGEFINDER_")}
    return kept | {"CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library, "XDG_RUNTIME_DIR": runtime,
                   "RANGEFINDER_OUT": runtime + "/trace"} | variables


class OnRequest:
    """workloads/probes/on_request with the library injected, and a client of its control socket."""

    def __init__(self, runner, runtime=None, **variables):
        self.runtime = runtime or tempfile.mkdtemp(prefix="rangefinder-windows-")
        environment = injected_environment(runner.injection_library, self.runtime, **variables)
        self.process = subprocess.Popen([f"{runner.bin}/on_request"], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._answer()
        self.control = Control(self.runtime, self.process)
        self.ask = self.control.ask

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.control.close()
        try:
            self.process.communicate("quit\n", PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.runtime, ignore_errors=True)

    def _answer(self):
        if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
            raise TimeoutError("on_request does not answer")
        return self.process.stdout.readline().strip()

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._answer()

    def resources(self):
        """Threads, open files, resident KiB, free MiB of the GPU."""
        return [int(word) for word in self.do("status").split()]


def trace_lines(folder):
    for path in sorted(glob.glob(folder + "/trace-*.ndjson")):
        with open(path, encoding="utf-8") as file:
            yield from map(json.loads, file)


def placed(lines):
    """(line, names of its path, outermost first); () outside any range."""
    paths = {}
    for line in lines:
        if line["t"] == "header":  # of a segment or of another trace
            paths = {0: ()}
        elif line["t"] == "path":
            paths[line["id"]] = (*paths[line["parent"]], line["name"])
        yield line, paths.get(line.get("path", 0))


def end_line(folder):
    return list(trace_lines(folder))[-1]


def lost(end):
    """Ranges open at the end of a window are not counted as lost data."""
    return {cause: count for cause, count in end["loss"].items() if cause != "nvtx_unclosed"}


def latency(runner, table):
    with OnRequest(runner, RANGEFINDER_START="off") as program:
        program.do("storm on")
        began = time.monotonic()
        folder = program.ask("start")["window"]["folder"]
        while not any(line["t"] == "kernel" for line in whole_lines(folder)):
            if time.monotonic() - began > FIRST_PATIENCE_S:
                kinds = collections.Counter(line["t"] for line in whole_lines(folder))
                table.row("start to the first kernel on disk", "some kernel", dict(kinds), False)
                print("  status:", program.ask("status"), flush=True)
                break
            time.sleep(0.002)
        first_s = time.monotonic() - began
        table.row("start to the first kernel on disk", f"< {START_S} s", f"{first_s:.3f} s", first_s < START_S)
        program.do("storm off")
        program.do("launch 20000")
        began = time.monotonic()
        window = program.ask("stop")["window"]
        stop_s = time.monotonic() - began
        table.row("stop to the complete trace", f"< {STOP_S} s", f"{stop_s:.3f} s", stop_s < STOP_S)
        table.equal("windows: lost", {}, lost(end_line(window["folder"])))


def whole_lines(folder):
    for path in glob.glob(folder + "/trace-*.ndjson"):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)


def work_in_flight(runner, table):
    """A window contains kernels running at its end, but not kernels running at its start."""
    with OnRequest(runner, RANGEFINDER_START="off") as program:
        program.ask("start")
        program.do("spin 300")
        program.do("spin 300")
        end = end_line(program.ask("stop")["window"]["folder"])
        table.equal("kernels under way at the end", {"launched": 2, "recorded": 2, "exact": 0, "lost": 0},
                    end["launches"]["kernel"])
        program.do("spin 400")
        program.ask("start")
        program.do("launch 5")
        end = end_line(program.ask("stop")["window"]["folder"])
        table.equal("kernels of a window that begins behind another", 5, end["records"].get("kernel"))
        table.equal("windows: lost behind another kernel", {}, lost(end))


def graphs(runner, table):
    for start, wanted in (("ready", "capture"), ("off", "replay")):
        with OnRequest(runner, RANGEFINDER_START=start) as program:
            program.do("graph 50")
            program.ask("start")
            program.do("replay 4")
            folder = program.ask("stop")["window"]["folder"]
            kernels = [path[-1:] for line, path in placed(trace_lines(folder)) if line["t"] == "kernel"]
            table.equal(f"nodes of a graph made before, --start {start}", (200, {(wanted,)}), (len(kernels), set(kernels)))


def cycles(runner, table):
    with OnRequest(runner, RANGEFINDER_START="off", RANGEFINDER_FLUSH_MS="50") as program:
        program.do("storm on")
        all_lost, kernels, before = collections.Counter(), 0, None
        for cycle in range(CYCLES + 20):
            if cycle == 20:  # one-time allocations are done by now
                before = program.resources()
            folder = f"{program.runtime}/cycle"
            program.ask("start", out=folder)
            program.ask("stop")
            end = end_line(folder)
            kernels += end["records"].get("kernel", 0)
            all_lost.update(lost(end))
            shutil.rmtree(folder)
        after = program.resources()
        program.do("storm off")
    table.equal(f"{CYCLES} windows: lost", {}, dict(all_lost))
    table.row(f"{CYCLES} windows: kernels", f"> {CYCLES}", kernels, kernels > CYCLES)
    table.equal(f"{CYCLES} windows: threads, open files", before[:2], after[:2])
    table.row(f"{CYCLES} windows: memory, KiB", f"< {before[2]} + {GROWTH_KIB}", after[2],
              after[2] - before[2] < GROWTH_KIB)
    table.row(f"{CYCLES} windows: free on the GPU, MiB", f"> {before[3]} - {GROWTH_GPU_MIB}", after[3],
              before[3] - after[3] < GROWTH_GPU_MIB)
