# SPDX-License-Identifier: Apache-2.0
"""Rounds: plain and one other process do each work once, in turns, alternating the order.

            round 1            round 2
  hf      plain trace        trace plain        a pair: plain and trace of one round
"""
import collections
import time

from fleet import Gone
from modes import WORKS

MIN_PAIRS, WARM_UP = 3, 2


class Rounds:
    """times[work][mode][round]: microseconds per unit of the work. Round numbers continue over all modes; phases[round]
    is the mode that was measured beside plain."""

    def __init__(self, give_up):
        self.times = collections.defaultdict(lambda: collections.defaultdict(dict))
        self._give_up = give_up
        self.phases = []

    def run(self, phase, processes, works, pairs, deadline):
        """Returns the number of rounds, after two that do not count. After the first few it stops once `deadline` has
        passed."""
        alive = list(processes)
        works = [name for name in WORKS if name in works]
        made = -WARM_UP
        while made < pairs and (made < MIN_PAIRS or time.monotonic() < deadline) and len(alive) == len(processes):
            if made >= 0:
                self.phases.append(phase)
            for name in works:
                for process in list(alive) if made % 2 == 0 else alive[::-1]:
                    self._measure(process, name, alive, made >= 0)
            made += 1
        return made

    def _measure(self, process, name, alive, counts):
        try:
            if process.mode.tool:
                process.ask("start")
            self._time(process, name, process.mode.name, counts)
            if process.mode.tool:
                process.ask("stop")
                self._time(process, name, process.mode.stopped, counts)
        except Gone as error:
            alive.remove(process)
            process.end()
            self._give_up(process, f"while it did {name}: {error}")

    def _time(self, process, name, row, counts):
        count = max(1, WORKS[name].count // process.mode.divisor)
        seconds = process.ask("run", work=name, count=count)["seconds"]
        if counts:
            self.times[name][row][len(self.phases) - 1] = seconds / count * 1e6
