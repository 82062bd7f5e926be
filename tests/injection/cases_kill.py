# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at a random moment: the files lack at most the last second, and can be repaired to a valid trace.

RANGEFINDER_TEST_KILLS: number of kills (8). RANGEFINDER_TEST_SEED reproduces a failure.
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from harness import DEADLINE_SECONDS, Build, InjectionCase, host_environment, retry

KILLS = int(os.environ.get("RANGEFINDER_TEST_KILLS", "8"))
SEED = int(os.environ.get("RANGEFINDER_TEST_SEED", "1"))
LAST_NS = 1_000_000_000
LONGEST_S, LONGEST_REAL_S = 1.6, 5.0  # latest time of the kill; a real driver needs one or two seconds to start


def times_of(folder):
    """Time 0, end of the latest launch or range, and the end line.

    A batch of counters delays the records of its launches, which then fill separate segments. Therefore this reads
    the last two segments that contain the program's calls.
    """
    first, *_ = segments = sorted(folder.glob("trace-*.ndjson"))
    with open(first, encoding="utf-8") as file:
        base_ns = int(json.loads(file.readline())["base_unix_ns"])
    last_ns, end, telling = 0, None, 0
    for segment in reversed(segments):
        ends = []
        for raw in segment.read_text(encoding="utf-8").splitlines():
            line = json.loads(raw)
            if line["t"] in ("launch", "exact", "range"):
                ends.append(line["end"] or line["start"])
            end = line if line["t"] == "end" else end
        last_ns = max([last_ns, *ends])
        telling += bool(ends)
        if telling == 2:
            break
    return base_ns, last_ns, end


class KillCases(InjectionCase):
    def kill_after(self, seconds, counters):
        """Kills a program that launches at full speed. Returns the folder of its trace, and the end times of its first
        and last launch, ns since 1970; empty: no launch."""
        place = self._new_place("kill")
        environment = host_environment(self.runtime, {
            "CUDA_INJECTION64_PATH": str(Build.injection_library), "RANGEFINDER_OUT": "trace",
            "RANGEFINDER_COUNTERS": counters, "RANGEFINDER_SEGMENT_MB": "2"})
        process = subprocess.Popen([Build.program("lives"), "storm", "launched"], env=environment, cwd=place,
                                   stdout=subprocess.DEVNULL)
        try:
            time.sleep(seconds)  # the random moment
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(DEADLINE_SECONDS)
        launched = place / "launched"
        times = launched.read_bytes() if launched.exists() else b""  # empty: killed while it created the file
        return place / "trace", struct.unpack("2q", times) if times else ()

    def command(self, *words):
        return subprocess.run([str(Build.rangefinder), *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=DEADLINE_SECONDS)

    def missing_ns(self, folder, launched_ns):
        """Checks that the trace is valid before and after repair. Returns the time of launches missing at its end."""
        begin_ns, end_ns = launched_ns or (0, 0)  # no launch yet
        known_ns = begin_ns
        if list(folder.glob("trace-*.ndjson")):  # otherwise it had no context yet, or no line
            for words in (("validate", folder), ("validate", "--fix", "--force", folder),
                          ("validate", "--strict", folder)):
                done = self.command(*words)
                self.assertEqual(done.returncode, 0, f"{words[1:]}: {done.stdout} {done.stderr}")
            base_ns, last_ns, end = times_of(folder)
            self.assertEqual(end["reason"], "salvaged")
            known_ns = max(base_ns + last_ns, begin_ns)
        shutil.rmtree(folder.parent)
        return end_ns - known_ns

    def check(self, case, folder, launched_ns):
        with self.subTest(seconds=case[0], counters=case[1]):
            missing_ns = self.missing_ns(folder, launched_ns)
            if missing_ns >= LAST_NS:
                retry(f"{self.id()} {case}", f"{missing_ns} ns are missing")
                missing_ns = self.missing_ns(*self.kill_after(*case))
            self.assertLess(missing_ns, LAST_NS, "ns of launches that are missing")

    def test_a_program_that_is_killed_at_any_moment_leaves_all_but_the_last_second(self):
        if Build.rangefinder is None:
            raise unittest.SkipTest("the command line was not built")
        print(f"{KILLS} kills, RANGEFINDER_TEST_SEED={SEED}", flush=True)
        random_numbers = random.Random(SEED)
        longest_s = LONGEST_REAL_S if Build.real else LONGEST_S
        cases = [(random_numbers.uniform(0.0, longest_s), random_numbers.choice(("off", "exact", "sampled")))
                 for _ in range(KILLS)]
        with ThreadPoolExecutor(1) as beside:  # the next program runs while this trace is checked
            run = beside.submit(self.kill_after, *cases[0])
            for case, following in zip(cases, [*cases[1:], None]):
                folder, launched_ns = run.result()
                if following:
                    run = beside.submit(self.kill_after, *following)
                self.check(case, folder, launched_ns)
