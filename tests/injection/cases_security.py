# SPDX-License-Identifier: Apache-2.0
"""Permissions of the files that we write, and which user data they contain (docs/security.md)."""

import stat

from harness import InjectionCase
from obedient import ObedientCase
from trace import Trace


class SecurityCases(InjectionCase):
    def test_only_the_user_may_read_a_trace(self):
        run = self.run_injected("plain", "5", RANGEFINDER_REPORT="report.txt")

        files = [*run.trace().folder.iterdir(), run.place / "report.txt"]
        self.assertGreaterEqual(len(files), 3)
        self.assertEqual({stat.S_IMODE(file.stat().st_mode) for file in files}, {0o600})

    def test_links_that_were_put_in_our_place_are_not_written_through(self):
        for name in ("trace-00000.ndjson", "summary.json", "summary.json.tmp"):
            with self.subTest(name=name):
                place = self._new_place("links")
                victim = place / "victim"
                victim.write_text("mine")
                (place / "out").mkdir()
                (place / "out" / name).symlink_to(victim)

                self.run_injected("plain", "5", place=place, RANGEFINDER_OUT="out", RANGEFINDER_FORCE="on")

                self.assertEqual(victim.read_text(), "mine")

    def test_no_value_of_the_environment_is_in_a_trace(self):
        secret = "a-secret-of-the-users"
        run = self.run_injected("plain", "5", MY_TOKEN=secret, AWS_SECRET_ACCESS_KEY=secret)

        for file in run.trace().folder.iterdir():
            self.assertNotIn(secret, file.read_text())

    def test_redact_leaves_the_programs_arguments_out(self):
        run = self.run_both("plain", "5", "--password=secret", RANGEFINDER_REDACT="on")

        self.assert_silent(run)
        trace = run.trace()
        self.assert_balanced(trace)
        self.assertEqual((trace.headers[0]["command"], trace.summary["process"]["command"]), ([], []))
        self.assertNotIn("secret", "".join(file.read_text() for file in trace.folder.iterdir()))


class SocketSecurityCases(ObedientCase):
    def test_redact_leaves_the_source_lines_of_modules_out(self):
        for redact, lines in (("off", 1), ("on", 0)):
            program = self.start_program(RANGEFINDER_REDACT=redact)
            program.do("module attn")
            program.do("launch 1")
            program.do("pop")
            self.end_program(program)

            trace = Trace(f"{program.place}/rangefinder-{program.process.pid}")
            self.assertEqual(len(trace.of("module_source")), lines)
            self.assertEqual("model.py" in "".join(file.read_text() for file in trace.folder.iterdir()), lines == 1)

    def test_redact_holds_for_the_control_socket(self):
        program = self.start_program(RANGEFINDER_REDACT="on")

        self.assertEqual(self.ok(self.connect(program).ask("status"))["command"], [])
        self.end_program(program)
