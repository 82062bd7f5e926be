# SPDX-License-Identifier: Apache-2.0
"""Monitor mode: records GPU work only in windows, launches and ranges always."""

from obedient import ObedientCase
from trace import Trace

WINDOW_NS, PERIOD_NS = 100_000_000, 1_000_000_000


class MonitorCases(ObedientCase):
    def test_launches_are_counted_all_the_while_and_recorded_in_windows(self):
        program = self.start_program(RANGEFINDER_MONITOR="100ms/1s", RANGEFINDER_SUMMARY_MS="200")
        client = self.connect(program)
        launched = 0

        def three_periods():
            nonlocal launched
            program.do("launch 20")
            launched += 20
            return self.monitor(client)["windows"] >= 3

        self.wait_until(three_periods, "three windows")
        program.do("sync")
        self.end_program(program)

        trace = Trace(program.place / f"rangefinder-{program.process.pid}")
        self.assertEqual(trace.end["loss"], {})
        self.assertEqual(trace.headers[0]["monitor_window"], WINDOW_NS)
        lines = trace.of("monitor")
        self.assertEqual(sum(line.get("launches", 0) for line in lines), launched)
        self.assertEqual(sum(line.get("ranges", 0) for line in lines), launched + launched // 20)
        recorded = len(trace.of("kernel"))
        self.assertEqual(sum(line.get("kernels", 0) for line in lines), recorded)
        self.assertTrue(0 < recorded < launched, (recorded, launched))
        self.check_periods([line for line in lines if "path" not in line])

    def check_periods(self, periods):
        self.assertGreaterEqual(len(periods), 3)
        for before, after in zip(periods, periods[1:]):
            self.assertEqual(before["end"], after["start"])
        for whole in periods[:-1]:
            self.assertGreaterEqual(whole["window"], WINDOW_NS)
            self.assertGreaterEqual(whole["end"] - whole["start"], PERIOD_NS)

    def monitor(self, client):
        return self.ok(client.ask("snapshot"))["summary"].get("monitor", {"windows": 0})
