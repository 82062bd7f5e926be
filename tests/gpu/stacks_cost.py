#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `run --stacks on` costs on a GPU, over the same recording without stacks: time, CPU time, memory.

    stacks_cost.py time RANGEFINDER [--pairs N] [--only PROGRAM]
    stacks_cost.py memory RANGEFINDER [--minutes N]

time: Hugging Face's RT-DETR without compilation, training of its BERT, and a loop of NumPy and copies. Each is one
process with stacks, in turns of a quarter of a second; in every other turn ptrace stops the thread that samples them.
Two processes of one program differ by more than sampling costs, so they would not show it. Prints the median of the pairs with its 95 %
interval, and the thread's CPU time over the turns in which it ran; stopped for half of the time, it allows itself twice its
share of them. Exit code 1: an interval reaches above 1.03.
memory: two processes of the last program, which also starts and ends threads, side by side. Prints what resident memory
grew by after the first minute, as MB an hour.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "overhead"))

from intervals import median_interval  # noqa: E402

LIMIT, TURN_S = 1.03, 0.25


def rtdetr():
    import torch
    from transformers import RTDetrConfig, RTDetrForObjectDetection

    model = RTDetrForObjectDetection(RTDetrConfig(num_labels=80)).eval().half().cuda()
    pixels = torch.rand(1, 3, 640, 640).half().cuda()

    def step():
        with torch.inference_mode():
            model(pixel_values=pixels)
    return step


def bert():
    import torch
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig()
    model = BertForMaskedLM(config).train().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    tokens = torch.randint(0, config.vocab_size, (8, 128))

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            batch = tokens.to("cuda")
            loss = model(input_ids=batch, labels=batch).loss
        loss.backward()
        optimizer.step()
    return step


def arrays():
    import numpy
    import torch

    values = numpy.random.default_rng(0).random((256, 1024), dtype=numpy.float32)

    def normalise(rows):
        return (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)

    def step():
        on_gpu = torch.from_numpy(normalise(values)).to("cuda")
        (on_gpu @ on_gpu.T).sum().cpu()
    return step


PROGRAMS = {"RT-DETR, eager": rtdetr, "BERT, training": bert, "NumPy and copies": arrays}


def serve_turns(name):
    """Each line of stdin is a turn of that many steps; answers with the microseconds of a step."""
    import torch

    step = PROGRAMS[name]()
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    print("ready", flush=True)
    for line in sys.stdin:
        count = int(line)
        began = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        print((time.perf_counter() - began) * 1e6 / count, flush=True)


def run_forever():
    step = arrays()
    print("ready", flush=True)
    end = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < end:
        thread = threading.Thread(target=time.sleep, args=(0.05,))
        thread.start()
        for _ in range(50):
            step()
        thread.join()
        time.sleep(0.2)


class Recorded:
    """A program under `rangefinder run`, with its pipes."""

    def __init__(self, rangefinder, folder, stacks, *words):
        self.trace = os.path.join(folder, stacks)
        self.process = subprocess.Popen(
            [rangefinder, "run", "--quiet", "--counters", "off", "--stacks", stacks, "--out", self.trace, "--", sys.executable,
             __file__, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def pid(self):
        """Of the program; `run` waits for it as its parent."""
        children = read_text(f"/proc/{self.process.pid}/task/{self.process.pid}/children").split()
        return int(children[0]) if children else self.process.pid

    def read(self, expected=None):
        line = self.process.stdout.readline().strip()
        if not line or expected not in (None, line):
            sys.exit(f"the program wrote {line!r}, and ended with {self.process.poll()}")
        return line

    def turn(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return float(self.read())

    def end(self):
        """CPU seconds of the sampling thread, and the number of samples."""
        self.process.stdin.close()
        if self.process.wait(120) != 0:
            sys.exit(f"exit code {self.process.returncode}")
        with open(os.path.join(self.trace, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        samples = 0
        for name in os.listdir(self.trace):
            if name.endswith(".ndjson"):
                with open(os.path.join(self.trace, name), encoding="utf-8") as file:
                    samples += sum(sum(entry[2] if len(entry) > 2 else 1 for entry in json.loads(line)["samples"])
                                   for line in file if line.startswith('{"t":"stack_sample"'))
        return summary["own_cost"]["stacks_cpu_ns"] / 1e9, samples


class SamplingThread:
    """The thread of ours that samples stacks, which ptrace can stop alone."""

    SEIZE, INTERRUPT, CONTINUE, DETACH, ANY_THREAD = 0x4206, 0x4207, 7, 17, 0x40000000

    def __init__(self, pid):
        self.pid, tasks = pid, f"/proc/{pid}/task"
        self.tid = next(int(tid) for tid in os.listdir(tasks) if read_text(f"{tasks}/{tid}/comm").strip() == "rf-stacks")
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.request(self.SEIZE)

    def request(self, number):
        if self.libc.ptrace(ctypes.c_long(number), ctypes.c_long(self.tid), None, None) != 0:
            sys.exit(f"ptrace: {os.strerror(ctypes.get_errno())}")

    def cpu_s(self):
        return int(read_text(f"/proc/{self.pid}/task/{self.tid}/schedstat").split()[0]) / 1e9

    def stop(self):
        self.request(self.INTERRUPT)
        os.waitpid(self.tid, self.ANY_THREAD)

    def resume(self):
        self.request(self.CONTINUE)

    def leave(self):
        """Before the process exits: it would wait until we had reaped the thread."""
        self.stop()
        self.request(self.DETACH)


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def measure_time(options):
    bad = False
    print("                     us a step   with : without   95 % interval   pairs   thread   samples")
    for name in PROGRAMS if options.only is None else [options.only]:
        with tempfile.TemporaryDirectory() as folder:
            program = Recorded(options.rangefinder, folder, "on", "serve", name)
            program.read("ready")
            thread = SamplingThread(program.pid())
            count = max(1, round(TURN_S * 1e6 / program.turn(20)))
            ratios, base, began_cpu_s = [], [], thread.cpu_s()
            for pair in range(options.pairs):
                times = {}
                for sampled in (True, False) if pair % 2 else (False, True):
                    if not sampled:
                        thread.stop()
                    times[sampled] = program.turn(count)
                    if not sampled:
                        thread.resume()
                ratios.append(times[True] / times[False])
                base.append(times[False])
            cpu_s = thread.cpu_s() - began_cpu_s
            thread.leave()
            _, samples = program.end()
        share = cpu_s / (sum(time * ratio for time, ratio in zip(base, ratios)) * count / 1e6)
        median, low, high, _ = median_interval(ratios)
        bad = bad or high > LIMIT
        print(f"{name:20}{statistics.median(base):10.1f}{median:17.4f}   {low:.4f} … {high:.4f}{len(ratios):8}"
              f"{share * 100:7.2f} %{samples:10}", flush=True)
    return 1 if bad else 0


def resident_kb(pid):
    return next(int(line.split()[1]) for line in read_text(f"/proc/{pid}/status").splitlines() if line.startswith("VmRSS"))


def slope_mb_an_hour(readings):
    """Least squares."""
    times, kilobytes = [at for at, _ in readings], [kb for _, kb in readings]
    middle, mean = sum(times) / len(times), sum(kilobytes) / len(kilobytes)
    above = sum((at - middle) * (kb - mean) for at, kb in readings)
    return above / sum((at - middle) ** 2 for at in times) * 3600 / 1024


def measure_memory(options):
    seconds = options.minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        modes = {stacks: Recorded(options.rangefinder, folder, stacks, "forever", str(seconds + 10)) for stacks in ("off", "on")}
        for mode in modes.values():
            mode.read("ready")
        readings = {stacks: [] for stacks in modes}
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            time.sleep(5)
            for stacks, mode in modes.items():
                readings[stacks].append((time.monotonic() - began, resident_kb(mode.pid())))
        for stacks, found in readings.items():
            later = [reading for reading in found if reading[0] > 60]
            print(f"stacks {stacks}: {found[0][1] / 1024:.1f} MB at first, {later[0][1] / 1024:.1f} after a minute, {later[-1][1] / 1024:.1f} "
                  f"after {options.minutes} minutes; {slope_mb_an_hour(later):+.2f} MB an hour after the first")
        differences = [(at, on - off) for (at, off), (_, on) in zip(readings["off"], readings["on"]) if at > 60]
        print(f"difference: {slope_mb_an_hour(differences):+.2f} MB an hour")
        for mode in modes.values():
            cpu_s, samples = mode.end()
            print(f"{os.path.basename(mode.trace)}: sampling thread {cpu_s / seconds * 100:.2f} % of a core, {samples} samples")
    return 0


def main():
    if sys.argv[1:2] == ["serve"]:
        return serve_turns(sys.argv[2])
    if sys.argv[1:2] == ["forever"]:
        return run_forever()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("time", "memory"))
    parser.add_argument("rangefinder")
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--minutes", type=float, default=9)
    options = parser.parse_args()
    return measure_time(options) if options.what == "time" else measure_memory(options)


if __name__ == "__main__":
    sys.exit(main())
