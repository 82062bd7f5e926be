# SPDX-License-Identifier: Apache-2.0
"""From times to ratios with intervals, to a table and to the goals."""
from statistics import median

from intervals import median_interval
from modes import GOALS, MODES, WORKS


def ratio(times, mode, over):
    """Ratio of the pairs: {median, low, high, coverage, pairs}; None if there are none."""
    rounds = sorted(times.get(mode, {}).keys() & times.get(over, {}).keys())
    if not rounds:
        return None
    middle, low, high, coverage = median_interval([times[mode][r] / times[over][r] for r in rounds])
    return {"median": middle, "low": low, "high": high, "coverage": coverage, "pairs": len(rounds)}


def ratio_over(times, mode, over):
    """The same for two modes that were not alive together: through plain, with the widest of intervals."""
    if over == "plain":
        return ratio(times, mode, over)
    above, below = ratio(times, mode, "plain"), ratio(times, over, "plain")
    if above is None or below is None:
        return None
    return {"median": above["median"] / below["median"], "low": above["low"] / below["high"],
            "high": above["high"] / below["low"], "coverage": 0.9, "pairs": min(above["pairs"], below["pairs"])}


def summarise(all_times):
    """{work: {mode: {us, low, high, least, most, rounds, ratio}}}"""
    found = {}
    for name, times in all_times.items():
        found[name] = {}
        for mode, rounds in times.items():
            middle, low, high, _ = median_interval(list(rounds.values()))
            found[name][mode] = {
                "us": middle, "low": low, "high": high, "least": min(rounds.values()), "most": max(rounds.values()),
                "rounds": len(rounds), "ratio": None if mode == "plain" else ratio(times, mode, "plain")}
    return found


def title_of(mode):
    stopped = mode.endswith(", stopped")
    return "  after it was stopped" if stopped else MODES[mode].title


def print_times(found):
    for name in WORKS:
        if name not in found:
            continue
        work = WORKS[name]
        print(f"\n{name}: {work.title}; us {work.unit}, median (95 % interval) of rounds; ratio of pairs to plain")
        order = [row for mode in MODES.values() for row in (mode.name, mode.stopped) if row in found[name]]
        for row in order:
            one = found[name][row]
            line = f"  {title_of(row):46} {one['us']:11.2f} ({one['low']:.2f}, {one['high']:.2f})"
            if one["ratio"]:
                r = one["ratio"]
                line = f"{line:<92}{r['median']:7.3f} ({r['low']:.3f}, {r['high']:.3f}) {r['pairs']:3} pairs"
                if r["coverage"] < 0.95:
                    line += f", {100 * r['coverage']:.0f} % interval"
            print(line)


def print_processes(processes):
    print("\nprocesses: maximum resident MB; of traces: bytes and CPU ns of our threads per launch and per GPU record, "
          "upper bound of ms from a kernel's end to its line on disk, median and 99th percentile")
    plain = processes.get("plain", {}).get("resident_bytes", 0)
    for mode, one in processes.items():
        line = f"  {mode:15} {one['resident_bytes'] / 1e6:8.0f} ({(one['resident_bytes'] - plain) / 1e6:+.0f})"
        trace = one.get("trace", {})
        if trace.get("launches"):
            line += (f"  {trace['launches']} launches, {trace['gpu_records']} records: {trace['bytes_per_launch']:.0f} B and "
                     f"{trace['drain_cpu_ns_per_launch']:.0f} ns a launch, {trace.get('bytes_per_gpu_record', 0):.0f} B "
                     f"and {trace.get('drain_cpu_ns_per_gpu_record', 0):.0f} ns a record; callback "
                     f"{trace['own_cost']['launch_callback_median_ns']} / {trace['own_cost']['launch_callback_p99_ns']} ns")
        if "lag_ms" in trace:
            line += f"; lag {trace['lag_ms']['median']:.0f} / {trace['lag_ms']['p99']:.0f} ms"
        if trace.get("loss"):
            line += f"; LOST {trace['loss']}"
        if "report_bytes" in one:
            line += f"  report of {one['report_bytes'] / 1e6:.1f} MB"
        print(line)


def print_goals(all_times, found):
    """True if every measured goal is met."""
    kept = True
    print()
    for (work, mode, over), most in GOALS.items():
        one = ratio_over(all_times.get(work, {}), mode, over)
        if one is None:
            continue
        good = one["median"] <= most
        kept = kept and good
        print(f"goal: {work}, {mode} over {over}: {one['median']:.3f} ({one['low']:.3f}, {one['high']:.3f}) of {most}  "
              f"{'ok' if good else 'MISSED'}")
    one, eight = (found.get(name, {}).get("trace", {}).get("ratio") for name in ("storm1", "storm8"))
    if one and eight:
        good = eight["median"] <= one["median"]
        kept = kept and good
        print(f"goal: 8 threads traced {eight['median']:.3f}, no worse than 1 thread {one['median']:.3f}  "
              f"{'ok' if good else 'MISSED'}")
    return kept


def print_plain(all_times, phases):
    """The plain process beside each other mode: the effect of the other mode, and the drift."""
    print("\nplain beside each mode, us, median:")
    for name, times in all_times.items():
        by_phase = {}
        for number, us in times.get("plain", {}).items():
            by_phase.setdefault(phases[number], []).append(us)
        print(f"  {name:14}", ", ".join(f"{phase} {median(values):.2f}" for phase, values in by_phase.items()))
