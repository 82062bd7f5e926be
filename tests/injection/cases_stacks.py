# SPDX-License-Identifier: Apache-2.0
"""Samples of the call stacks of Python programs: they name the function that ran, and never one that did not."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from harness import Build, InjectionCase, bounds_wall_time

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "stacks.py"
# Every CPython that is read and found here: of the system and of pyenv. RANGEFINDER_TEST_PYTHONS names others, separated
# by colons.
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
PYTHONS = [sys.executable, "/usr/bin/python3", *map(str, sorted(PYENV.glob("versions/3.*/bin/python3"))),
           *os.environ.get("RANGEFINDER_TEST_PYTHONS", "").split(":")]
DECODE_LINES = {number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if "total" in line or
                "while" in line or "until()" in line}
# case: function of the program, and the function that is named innermost in most of its samples; None: its own
CASES = {"slow_loader": ("Loader.decode_image", None), "waits_for_lock": ("waits_for_lock", None),
         "tokenize": ("tokenize", "<genexpr>"), "makes_garbage": ("makes_garbage", "(garbage collection)"),
         "imports_late": ("imports_late", ""), "reads_items": ("reads_items", "Gpu.synchronize")}


class Stacks:
    """The stacks of a trace as lists of frame lines, innermost first, and the samples of threads."""

    def __init__(self, trace):
        frames = {line["id"]: line for line in trace.of("frame")}
        self.nodes = {line["id"]: line for line in trace.of("stack")}
        self.frames_of = {}
        for number, node in self.nodes.items():
            self.frames_of[number] = [frames[node["frame"]], *self.frames_of.get(node.get("caller", 0), [])]
        self.samples = []  # (thread, time, frames)
        for line in trace.of("stack_sample"):
            for after, stack, *count in line["samples"]:
                for i in range(count[0] if count else 1):
                    at = line["start"] + after * 1000 + i * line["interval"]
                    self.samples.append((line["thread"], at, self.frames_of[stack]))

    def of_functions(self, suffix):
        """The samples in which a function of this name runs, at any depth."""
        return [sample for sample in self.samples if any(frame["function"].endswith(suffix) for frame in sample[2])]


class StackCases(InjectionCase):
    def run_python(self, program, *arguments, python=sys.executable, **variables):
        run = self.run_injected(program, *arguments, wrap=[python, "-B"], **variables)
        self.assertEqual(run.status, 0, run.stderr)
        self.assert_silent(run)
        return run.trace()

    @bounds_wall_time
    def test_samples_name_the_function_that_ran(self):
        trace = self.run_python(PROGRAM)
        self.assertEqual(trace.problems(), [])
        self.assert_balanced(trace)
        stacks = Stacks(trace)
        for case, (function, innermost) in CASES.items():
            # 3.9 and 3.10 have no qualified names.
            own = function if sys.version_info >= (3, 11) else function.split(".")[-1]
            found = stacks.of_functions(own)
            self.assertGreater(len(found), 10, case)
            self.assertLess(len(found), 100, case)
            for _, _, frames in found:
                program = [frame for frame in frames if frame.get("file", "").endswith("stacks.py")]
                self.assertEqual(program[-1]["function"], "<module>", case)
                self.assertGreater(program[0]["line"], 0)
            named = [frames[0]["function"] for _, _, frames in found]
            wanted = own if innermost is None else innermost
            count = sum(name.endswith(wanted.split(".")[-1]) for name in named)
            self.assertGreater(count, len(found) * 0.2, f"{case}: {wanted} of {sorted(set(named))}")

    @bounds_wall_time
    def test_garbage_collection_below_many_calls_is_no_level_too_many(self):
        trace = self.run_python(PROGRAM, "deep_garbage")
        self.assertEqual(trace.problems(), [])
        found = [frames for _, _, frames in Stacks(trace).samples if frames[0]["function"] == "(garbage collection)"]
        self.assertGreater(len(found), 5)
        self.assertEqual({len(frames) for frames in found}, {128})

    @bounds_wall_time
    def test_every_python_is_read_or_refused_in_one_line(self):
        for python in dict.fromkeys(filter(shutil.which, PYTHONS)):
            if not is_read(python):
                run = self.run_injected(PROGRAM, "slow_loader", wrap=[python, "-B"])
                self.assert_one_line(run, "host stacks are read of CPython 3.9 to 3.14")
                self.assertEqual((run.status, run.trace().of("stack_sample")), (0, []))
                continue
            stacks = Stacks(self.run_python(PROGRAM, "slow_loader", "waits_for_lock", python=python))

            found = stacks.of_functions("decode_image")
            self.assertGreater(len(found), 10, python)
            lines = {frames[0]["line"] for _, _, frames in found if frames[0]["function"].endswith("decode_image")}
            self.assertLessEqual(lines, DECODE_LINES, python)
            held = stacks.of_functions("hold_lock")
            self.assertGreater(len(held), 10, python)
            self.assertEqual(len({thread for thread, _, _ in held}), 1, python)
            self.assertNotEqual(held[0][0], found[0][0], python)

    @bounds_wall_time
    def test_the_first_screen_names_function_and_line(self):
        if Build.rangefinder is None:
            self.skipTest("no rangefinder")
        for case, (function, _) in CASES.items():
            # Longer: on a busy machine samples become rarer, and ten of host code are needed.
            trace = self.run_python(PROGRAM, case, STACKS_SECONDS="1.5")
            done = subprocess.run([Build.rangefinder, "report", trace.folder, "--json"], stdout=subprocess.PIPE, check=True)
            opening = json.loads(done.stdout)["traces"][0]["opening"]
            self.assertIn("host_code", opening, case)
            found = opening["host_code"]
            own = function if sys.version_info >= (3, 11) else function.split(".")[-1]
            # The launches and waits of the loop are functions too.
            wanted = "reads_items|launch|synchronize" if case == "reads_items" else re.escape(own)
            self.assertRegex(found["function"], wanted, case)
            self.assertEqual(found["function"].startswith("(garbage collection) in"), case == "makes_garbage")
            self.assertEqual(found["function"].startswith("import in"), case == "imports_late")
            lines = (PROGRAMS / Path(found["file"]).name).read_text().splitlines()
            self.assertTrue(lines[found["line"] - 1].strip(), case)
            self.assertGreater(found["share"], 0.3, case)

    def test_without_them_no_stack_is_sampled(self):
        trace = self.run_python(PROGRAM, "slow_loader", RANGEFINDER_STACKS="off")
        self.assertEqual(trace.of("frame", "stack", "stack_sample"), [])

    @bounds_wall_time
    def test_redacted_frames_have_no_file(self):
        trace = self.run_python(PROGRAM, "slow_loader", RANGEFINDER_REDACT="on")
        self.assertGreater(len(Stacks(trace).of_functions("decode_image")), 10)
        self.assertFalse([line for line in trace.of("frame") if "file" in line or "line" in line])

    @bounds_wall_time
    def test_a_window_has_the_stacks_of_its_time(self):
        trace = self.run_python(PROGRAM, "slow_loader", "tokenize", "slow_loader", "reads_items",
                                RANGEFINDER_CAPTURE="after:300ms,for:500ms")
        self.assertEqual(trace.problems(), [])
        times = [at for _, at, _ in Stacks(trace).samples]
        self.assertGreater(len(times), 20)
        self.assertGreater(min(times), -20_000_000)
        self.assertLess(max(times), trace.end["at"])

    def test_a_program_without_python_has_no_stacks_and_no_message(self):
        run = self.run_injected("plain")
        self.assert_silent(run)
        self.assertEqual(run.trace().of("stack_sample"), [])

    @bounds_wall_time
    def test_a_sample_takes_at_most_40_bytes_and_one_percent_of_a_core(self):
        # Long enough for the interval to follow the cost, on a busy machine too.
        trace = self.run_python(PROGRAM, "tokenize", STACKS_SECONDS="4")
        samples = len(Stacks(trace).samples)
        segments = [segment.read_text() for segment in trace.folder.glob("trace-*.ndjson")]
        text = sum(len(line) for line in "".join(segments).splitlines() if '"t":"stack_sample"' in line)
        self.assertLess(text / samples, 40)
        # The first second reads every function.
        self.assertLess(trace.end["own_cost"]["stacks_cpu_ns"], 0.02 * trace.end["at"])

    def test_a_storm_of_frames_threads_and_interpreters_shows_no_stack_that_never_was(self):
        seconds = os.environ.get("RANGEFINDER_TEST_STORM", "3")
        callers = callers_of((PROGRAMS / "stack_storm.py").read_text())
        trace = self.run_python(PROGRAMS / "stack_storm.py", seconds)
        self.assertEqual(trace.problems(), [])
        stacks = Stacks(trace)
        wrong = [frames for _, _, frames in stacks.samples if not is_possible(frames, callers)]
        print(f"{len(stacks.samples)} samples of a storm, {len(wrong)} of stacks that never were, "
              f"{trace.end['loss'].get('stacks_lost', 0)} lost")
        self.assertGreater(len(stacks.samples), 20)
        self.assertLessEqual(len(wrong), len(stacks.samples) * 0.001, [[frame["function"] for frame in frames] for frames in wrong[:3]])


def is_read(python):
    test = "import sys; sys.exit(not (3, 9) <= sys.version_info < (3, 15))"
    return subprocess.run([python, "-c", test], check=False).returncode == 0


def callers_of(source):
    """CALLERS of stack_storm.py, which cannot be imported where there is no driver."""
    space = {}
    begin = source.index("CALLERS = ")
    exec(source[begin:source.index("}", begin) + 1], space)
    return space["CALLERS"]


def is_possible(frames, callers):
    names = [frame["function"].split(".")[-1] for frame in frames]
    known = all(name not in callers or caller == callers[name] for name, caller in zip(names, names[1:]))
    # An interpreter that begins or ends runs functions of its own.
    return known and (names[-1] in ("<module>", "_bootstrap") or frames[-1]["file"].startswith("<frozen") or
                      "/lib/python3" in frames[-1]["file"])
