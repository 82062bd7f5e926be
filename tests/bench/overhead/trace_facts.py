# SPDX-License-Identifier: Apache-2.0
"""What a finished trace reports about its own cost: bytes per launch, CPU of our threads, delay of records."""
import json
from statistics import median


def trace_facts(folder):
    """{} if there is no complete trace."""
    segments = sorted(folder.glob("trace-*.ndjson"))
    end, lags = None, []
    for segment in segments:
        end = _read(segment, lags) or end
    if end is None:
        return {}
    launches = sum(kind["launched"] for kind in end["launches"].values())
    records = sum(end["records"].get(kind, 0) for kind in ("kernel", "memcpy", "memset"))
    size = sum(segment.stat().st_size for segment in segments)
    cost = end["own_cost"]
    facts = {"launches": launches, "gpu_records": records, "bytes": size, "loss": end["loss"], "own_cost": cost}
    if launches:
        facts["bytes_per_launch"] = size / launches
        facts["drain_cpu_ns_per_launch"] = cost["drain_cpu_ns"] / launches
    if records:
        facts["drain_cpu_ns_per_gpu_record"] = cost["drain_cpu_ns"] / records
        facts["bytes_per_gpu_record"] = size / records
    if lags:
        lags.sort()
        facts["lag_ms"] = {"median": median(lags) / 1e6, "p99": lags[len(lags) * 99 // 100] / 1e6,
                           "most": lags[-1] / 1e6}
    return facts


def _read(segment, lags):
    """Adds to `lags` the upper bound of the delay between the end and the line of each 16th kernel. A `flush` line has
    the time by which all earlier lines were written. Returns the end line."""
    ends, seen, last = [], 0, None
    with open(segment, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith('{"t":"kernel"'):
                seen += 1
                at = line.find('"end":') if seen % 16 == 0 else -1
                if at >= 0:
                    ends.append(int(line[at + 6:line.index(",", at)]))
            elif line.startswith('{"t":"flush"'):
                at = json.loads(line)["at"]
                lags.extend(at - end for end in ends)
                ends.clear()
            elif line.startswith('{"t":"end"'):
                last = json.loads(line)
    return last
