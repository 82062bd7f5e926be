# SPDX-License-Identifier: Apache-2.0
"""What the tests of bad input share: traces to spoil, and each reading verb tried on each of them."""
import json

import cli_case
from cli_case import HEADER, TRACE, CommandLine

END = {
    "t": "end", "at": 2000, "reason": "exit", "records": {"launch": 1, "kernel": 1, "range": 1},
    "launches": {kind: {"launched": n, "recorded": n, "exact": 0, "lost": 0}
                 for kind, n in (("kernel", 1), ("memcpy", 0), ("memset", 0), ("graph", 0))},
    "loss": {},
    "own_cost": {key: 0 for key in (
        "launch_callbacks", "launch_callback_median_ns", "launch_callback_p99_ns", "drain_cpu_ns", "bytes_written",
        "activity_buffers_peak", "activity_buffer_bytes", "exact_ns", "exact_batches", "sampler_cpu_ns", "samples")},
}
FIRST = "trace-00000.ndjson"
HOSTILE = ["\x1b[2J\x1b[31m", "a\nb\tc\0d", "</script><script>alert(1)</script>", "'; DROP TABLE kernels; --", "=1+1",
           "../../etc/passwd", "\u202eevil", "%s%n", "x" * 16_000, "\\", "/", "\ud83d\ude00", "\"\"", " "]


def text_of(lines):
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def write(folder, lines, segment=0):
    (folder / f"trace-{segment:05}.ndjson").write_text(text_of(lines), encoding="utf-8")


def second_segment(lines=TRACE, segment=1, **header):
    """Names again, then a launch and its kernel of their own."""
    out = [dict(HEADER, segment=segment, **header), *[dict(line) for line in lines[1:7]]]
    for line in out[5:]:
        line["corr"] = 2
    return out


class BadInputCase(CommandLine):
    """Each verb is tried on each case."""

    def verbs(self, place):
        """Arguments of each verb that reads, and whether `place` is all it needs."""
        out = {f"report --section {name}": ["report", place, "--section", name] for name in self.sections()}
        out["report --json"] = ["report", place, "--json"]
        for name in self.formats():
            out[f"export --to {name}"] = ["export", place, "--to", name, "--out", self.folder / f"out-{name}", "--force"]
        if self.has("diff"):
            out["diff"] = ["diff", place, place]
        return out

    def has(self, verb):
        return self.call(verb, "--help").returncode == 0

    def sections(self):
        wrong = self.call("report", "x", "--section", "?").stderr
        names = [word for word in ("modules", "kernels", "memcpy", "memory", "launches", "sync", "streams", "gpu",
                                   "idle", "iterations", "graphs", "monitor", "overhead", "loss") if word in wrong]
        return names or ["modules", "kernels"]

    def formats(self):
        if not self.has("export"):
            return []
        words = self.call("export", "--help").stdout
        return [word for word in ("perfetto", "kineto", "speedscope", "csv", "sqlite", "prometheus") if word in words]

    def check_texts(self, name, done):
        text = done.stdout + done.stderr
        for trace_of_a_crash in ("terminate called", "what():", "Traceback", "core dumped", "AddressSanitizer",
                                 "std::", "basic_string", "[json.exception"):
            self.assertNotIn(trace_of_a_crash, text, name)
        self.assertNotIn("\x1b", text, name)
        self.assertGreaterEqual(done.returncode, 0, f"{name}: killed by a signal\n{text}")

    def refused(self, place, words, verbs=None):
        """All verbs but validate say a sentence with all `words` and end with 3."""
        for name, arguments in (verbs or self.verbs(place)).items():
            with self.subTest(verb=name):
                done = self.call(*arguments)
                self.check_texts(name, done)
                self.check_code(done, 3)
                first = done.stderr.splitlines()[0] if done.stderr else ""
                for word in words:
                    self.assertIn(word, done.stderr, first)
                self.assertTrue(first.startswith("rangefinder: "), done.stderr)
        with self.subTest(verb="validate"):
            done = self.call("validate", place)
            self.check_texts("validate", done)
            self.check_code(done, 1)
            for word in words:
                self.assertIn(word, done.stdout)
            self.assertEqual(done.stderr, "")

    def accepted(self, place, valid=0):
        for name, arguments in self.verbs(place).items():
            with self.subTest(verb=name):
                done = self.call(*arguments)
                self.check_texts(name, done)
                self.check_code(done, 0)
        with self.subTest(verb="validate"):
            done = self.call("validate", place)
            self.check_texts("validate", done)
            self.check_code(done, valid)

    def whole(self, name="trace"):
        return self.make_trace([*TRACE, END], name)
