# SPDX-License-Identifier: Apache-2.0
"""Shared by contract_test.py: outputs of all commands about recordings and made traces, and answers of serve."""
import functools
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import threading

import cli_case
import serve_case
import stacked_case
import unpack_golden
from cli_case import HEADER, TRACE

ALL = ("overview", "modules", "layers", "kernels", "metrics", "roofline", "findings", "memcpy", "memory", "launches",
       "sync", "streams", "gpu", "communication", "idle", "stacks", "iterations", "graphs", "monitor", "conditions", "overhead", "loss")
# Sections by recording: with those of schema/examples, which is in all of them, they have all described keys.
SECTIONS = {
    "case_attention": ("overview", "iterations"),
    "case_gemm_metrics": ("findings",),
    "case_gemm_small": ("overview", "kernels"),
    "case_overlap": ("overview", "streams", "idle"),
    "case_starved_pinned": ("overview", "memory"),
    "case_transpose_metrics": ("metrics", "roofline", "modules"),
    "compiled_default": ("overview",),
    "copy_storm": ("findings",),
    "cpu_limited": ("overview",),
    "decoder_exact": ("graphs",),
    "gemm_power": ("overview", "conditions"),
    "gpm_steps": ("overview", "modules", "iterations"),
    "hazards_exact": ("kernels",),
    "known_bytes_exact": ("findings", "gpu"),
    "multi_stream_ranges": ("memcpy", "sync"),
    "nvtx_shapes": ("sync",),
    "resnet_workers_0": ("overview",),
    "rtdetr_exact": ("findings",),
    "stacked": ("overview", "idle", "stacks"),
}
REPORTS = (
    ("case_transpose_metrics", "--section", "findings", "--all"),
    ("case_transpose_metrics", "--total", "--range", "*"),
    ("case_transpose_metrics", "--section", "kernel", "--kernel", "transpose"),
    ("case_overlap", "--total", "--range", "*"),
    ("decoder_exact", "--section", "findings", "--all"),
    ("decoder_exact", "--section", "graphs", "--check", "--all"),
    ("decoder_exact", "--section", "modules", "--fit"),
    ("known_bytes_exact", "--section", "modules", "--fit"),
    ("multi_stream_ranges", "--section", "graphs", "--check", "--all"),
    ("examples", "--section", "kernel", "--kernel", "."),
    ("compiled_origins", "--section", "kernel", "--kernel", "fused"),
    ("layered", "--section", "layers"),
    ("layered", "--section", "findings"),
    ("layered", "--section", "memory"),
    ("layered", "--total", "--range", "*"),
    ("kept_end", "--section", "loss"),
    ("rank0", "--section", "communication"),
    ("rank0", "rank1", "--as-ranks"),
    ("work0", "work1", "--as-ranks"),
    ("job_gpu",),
    ("job_cut",),
)
DIFFS = (
    ("job_gpu", "job_cut", "--all"),
    ("case_attention", "case_attention", "--all"),
    ("case_transpose_metrics", "case_transpose_metrics", "--all"),
    ("case_gemm_small", "case_attention", "--all", "--fail-over", "5%", "--allow-unchecked"),
    ("case_starved_pinned", "case_starved_one", "--fail-over", "5000%"),
    ("cpu_limited", "gemm_power", "--all"),
    ("multi_stream_ranges", "copy_storm", "--all"),
    ("multi_stream_ranges", "--kernel", "probe_spin", "probe_increment"),
)
SERVED = ("stacked", "case_transpose_metrics", "case_overlap", "case_gemm_metrics", "compiled_default", "decoder_exact",
          "hazards_exact", "layered", "rank0")


def rank_lines(rank, late_ns):
    """A rank that computes and calls ncclAllReduce, four times; its collectives begin `late_ns` later."""
    entries = [{"name": "NCCL communicator ID", "type": "uint64"},
               {"name": "Message size [bytes]", "type": "size", "offset": 8},
               {"name": "Reduction operation", "type": 100, "offset": 16}]
    reductions = {"kind": "enum", "entries": [{"name": "Sum", "value": 0}], "size": 4}
    kernel_name = {"t": "kernel_name", "mangled": "k", "demangled": "k()", "library": "own", "evidence": "none"}
    all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"
    out = [
        {**HEADER, "rank": str(rank), "ranks": 2, "pid": HEADER["pid"] + rank}, TRACE[1], {"t": "domain", "id": 3, "name": "NCCL"},
        {"t": "path", "id": 1, "parent": 0, "name": "model"},
        {"t": "path", "id": 2, "parent": 1, "name": "ncclAllReduce", "domain": 3},
        {**kernel_name, "id": 1}, {**kernel_name, "id": 2, "demangled": all_reduce, "library": "NCCL"}, TRACE[4],
        {"t": "payload_schema", "id": 100, "domain": 3, "definition": reductions},
        {"t": "payload_schema", "id": 101, "domain": 3,
         "definition": {"kind": "schema", "entries": entries, "size": 24}}]
    for n in range(4):
        at, late, first, second = 10_000 * n, 10_000 * n + late_ns, 2 * n + 1, 2 * n + 2
        call = {"path": 2, "range": 10 + n}
        out += [
            {**TRACE[5], "start": at + 10, "end": at + 20, "corr": first},
            {**TRACE[5], "start": at + 30, "end": at + 40, "corr": second, **call},
            {**TRACE[6], "start": at + 100, "end": late + 2000, "corr": first},
            {**TRACE[6], "start": late + 1500, "end": at + 6000, "stream": 8, "corr": second, "name": 2, **call},
            {"t": "range", "id": 10 + n, "start": at + 25, "end": at + 45, "thread": 5, "path": 2, "domain": 3,
             "payload_schema": 101, "payload_data": struct.pack("<QQI4x", 77, 4096, 0).hex()}]
    return [*out, {**TRACE[7], "end": 50_000}]


def work_lines(rank):
    """A rank without collectives; the second takes longer."""
    return [{**TRACE[0], "rank": str(rank)}, *TRACE[1:6], {**TRACE[6], "end": 1100 + 500 * rank}, *TRACE[7:]]


class Outputs:
    def __init__(self, folder):
        self.folder = folder
        self._made = {
            "job_cut": lambda: self._job("job_cut", "host", (1,)),
            "job_gpu": lambda: self._job("job_gpu", "gpu", (0, 1)),
            "examples": lambda: cli_case.REPOSITORY / "schema/examples",
            "kept_end": self._kept_end,
            "layered": self._layered,
            "rank0": lambda: self._write("rank0", rank_lines(0, 0)),
            "rank1": lambda: self._write("rank1", rank_lines(1, 2500)),
            "stacked": lambda: self._write("stacked", stacked_case.lines(stacked_case.WAIT)),
            "torn": self._torn,
            "work0": lambda: self._write("work0", work_lines(0)),
            "work1": lambda: self._write("work1", work_lines(1)),
        }
        self._lock = threading.RLock()  # commands run in two threads

    @staticmethod
    def commands():
        """(schema, words); a word may be the name of a recording or of a made trace."""
        yield from (("report", ("report", "examples", "--section", section)) for section in ALL)
        for name, sections in SECTIONS.items():
            yield from (("report", ("report", name, "--section", section)) for section in sections)
        yield from (("report", ("report", *words)) for words in REPORTS)
        yield from (("diff", ("diff", *words)) for words in DIFFS)
        yield "doctor", ("doctor", "--out", "/proc/none")  # not writable: a check that says how to fix it
        yield "validation", ("validate", "hazards_exact", "torn", "--strict")
        yield "validation", ("validate", "torn", "--fix", "--out", "fixed")

    def of(self, schema, words):
        """(schema, words as text, JSON) of one command."""
        called = [str(self.trace(word)) if word in self._made or self._golden(word) else word for word in words]
        jobs = ["--jobs", "1"] if words[0] in ("report", "diff") else []
        done = subprocess.run([cli_case.RANGEFINDER, *called, *jobs, "--json"], cwd=self.folder, text=True,
                              capture_output=True, timeout=120, env=cli_case.clean_environment(), check=False)
        if done.returncode not in (0, 1, 3):
            raise AssertionError(f"{' '.join(words)}: {done.returncode} {done.stderr}")
        return schema, " ".join(words), json.loads(done.stdout)

    @staticmethod
    def _golden(name):
        folder = cli_case.REPOSITORY / "tests/replay" / name
        return folder if (folder / "golden.ndjson.gz").exists() else None

    @functools.cache
    def _unpacked(self, name):
        out = self.folder / name
        unpack_golden.unpack(self._golden(name), out)
        return out

    def trace(self, name):
        with self._lock:
            if name not in self._made:
                return self._unpacked(name)
            if callable(self._made[name]):
                self._made[name] = self._made[name]()
            return self._made[name]

    def _write(self, name, lines, segment=0):
        out = self.folder / name
        out.mkdir()
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        (out / f"trace-{segment:05}.ndjson").write_text(text)
        return out

    def _job(self, name, recorded, ranks):
        """A recorded job; with two processes for a rank if it has only one."""
        jobs = cli_case.REPOSITORY / "tests/unit/analysis/ranks/recorded_jobs"
        for number, rank in enumerate(ranks * (2 // len(ranks))):
            shutil.copytree(jobs / recorded / f"rank={rank}", self.folder / name / f"host=a/rank={rank}/pid={number}")
        return self.folder / name

    def _lines(self, name):
        return [json.loads(line) for line in (self._unpacked(name) / "trace-00000.ndjson").read_text().splitlines()]

    def _layered(self):
        """A recorded inference with the paths of a training: `warmup` is the backward pass of `model`. With source
        lines of modules, and what PyTorch's allocator handed out."""
        lines = self._lines("rtdetr_exact")
        iteration = next(line["id"] for line in lines if line["t"] == "path" and line["name"] == "iteration")
        for line in lines:
            if line["t"] == "path" and line["name"] == "warmup":
                line["name"] = "backward"
            if line["t"] == "path" and line["name"] == "model" and line["parent"] == iteration:
                line["parent"] = 0
        sources = [{"t": "module_source", "path": line["id"], "class_file": "/app/model.py", "class_line": 214,
                    "call_file": "/app/train.py", "call_line": 30} for line in lines if line["t"] == "path"]
        out = self._write("layered", [*lines[:-1], *sources, lines[-1]])
        row = {"path": "train", "calls": 10, "allocations": 40, "allocated_bytes": 90 << 20, "growth_bytes": 0,
               "later_growth_bytes": 80 << 20, "peak_bytes": 99 << 20, "live_at_peak_bytes": 85 << 20,
               "kept_bytes": 85 << 20}
        device = {"device": 0, "complete": True, "allocated_at_start_bytes": 0, "allocated_at_end_bytes": 85 << 20,
                  "modules": [row]}
        (out / "torch_memory.json").write_text(json.dumps({"devices": [device]}))
        return out

    def _kept_end(self):
        """Of a run whose first segments were removed."""
        lines = self._lines("copy_storm")
        lines[0]["segment"] = 3
        lines[-1]["loss"] = {"lines_over_max_size": 120}
        out = self._write("kept_end", lines, segment=3)
        (out / "summary.json").write_text(json.dumps({
            "final": True, "kernels": [{"name": "k", "count": 30, "total_ns": 1_800_000}],
            "memcpy": [{"kind": "DtoH", "count": 40, "bytes": 40_000}],
            "modules": [{"path": "copies", "depth": 1, "dram_read_bytes": 3_000_000, "dram_write_bytes": 1_000_000}]}))
        return out

    def _torn(self):
        """A made trace with a line that is not in the format, and a cut one."""
        out = self._write("torn", [*TRACE, {"t": "kernel", "start": "soon"}])
        with open(out / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write('{"t":"ker')
        return out

    def answers(self):
        """[(name in serve.schema.json, answer)]; empty if this build has no serve."""
        command = pathlib.Path(cli_case.RANGEFINDER)
        if not (command.parent.parent / "lib/librangefinder_http.so").exists():
            return []
        for name in SERVED:
            self.trace(name)
        runtime = self.folder / "runtime"
        (runtime / "rangefinder").mkdir(mode=0o700, parents=True)
        with Program(runtime / "rangefinder") as program:
            served = serve_case.Served("--port", "0", self.folder, runtime=runtime, folder=self.folder)
            try:
                return list(self._asked(served, program.pid))
            finally:
                served.stop()

    @staticmethod
    def _asked(served, pid):
        for name in ("traces", "processes", "columns"):
            yield name, served.json("/api/" + name)
        for name in ("modules", "kernels"):
            yield name, served.json("/api/" + name, pid=pid)
            for trace in SERVED:
                yield name, served.json("/api/" + name, trace=trace)
        for trace in SERVED:
            yield "findings", served.json("/api/findings", trace=trace)
        yield "timeline", served.json("/api/timeline", trace="case_overlap", stretches=20)
        yield "error", json.loads(served.ask("/api/modules?trace=unknown")[2])
        yield "live", Program.event(served, f"/api/live?pid={pid}")


class Program:
    """Stands for a running program: its control socket answers with fixed numbers."""

    WINDOW = {"number": 2, "folder": "/data/run", "records": 12, "lost": 1}

    def __init__(self, folder):
        self.pid = os.getpid()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(folder / f"{self.pid}.sock"))
        os.chmod(folder / f"{self.pid}.sock", 0o600)
        self._socket.listen()

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._socket.close()

    def _accept(self):
        try:
            while True:
                client, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(client,), daemon=True).start()
        except OSError:
            pass  # closed

    def _answer(self, client):
        summary = json.loads((cli_case.REPOSITORY / "schema/examples/summary.json").read_text())
        status = {"pid": self.pid, "executable": "/usr/bin/app", "command": ["app"], "rank": "3", "state": "recording",
                  "counters": "sampled", "launches": 7, "window": self.WINDOW}
        with client, client.makefile("rw", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                request = json.loads(line)
                more = {"window": self.WINDOW, "summary": summary} if request["command"] == "snapshot" else status
                answers = [{"v": 1, "id": request.get("id", 0), "ok": True, **more}]
                if request["command"] == "subscribe":
                    answers.append(self._delta())
                lines.write("".join(json.dumps(one) + "\n" for one in answers))
                lines.flush()

    def _delta(self):
        gpu = {"id": 0, "name": "Test GPU", "peak_dram_bytes_per_s": 4_800_000_000_000}
        totals = {"calls": 1, "kernels": 5, "gpu_ns": 5_000_000, "gpu_ns_exclusive": 5_000_000, "host_ns": 6_000_000,
                  "dram_read_bytes": 10_000_000, "dram_write_bytes": 5_000_000, "l2_bytes": 40_000_000}
        return {"event": "delta", "state": "recording", "duration_ns": 1_000_000_000, "gpus": [gpu], "loss": {},
                "modules": [{"path": "model", "depth": 1, **totals}], "outside": {"depth": 0, "kernels": 0},
                "window": self.WINDOW}

    @staticmethod
    def event(served, target):
        """The data of the first Server-Sent Event."""
        with served.connect() as connection:
            connection.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
            text = b""
            while b"data: " not in text or not text.split(b"data: ", 1)[1].count(b"\n"):
                text += connection.recv(65536)
        return json.loads(text.split(b"data: ", 1)[1].split(b"\n", 1)[0])
