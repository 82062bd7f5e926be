# SPDX-License-Identifier: Apache-2.0
"""Traces that somebody made to hang, fill or mislead a reader, for hostile_test.py.

    traces = HostileTraces(folder, size=300_000)
    traces.make("overlap")             folder/overlap/trace-00000.ndjson, of up to `size` bytes

TRACES has a function a trace: it gives the lines behind those that define the names, as dictionaries, texts or bytes.
FILES has those whose harm is not in their lines.
"""
import itertools
import json
import os
import random
import struct

MAX_TIME = 4611686018427387903
HEADER = {"t": "header", "schema": "rangefinder.trace", "version": "1.1", "segment": 0, "base_unix_ns": "1763712000000000000",
          "base_monotonic_ns": "86400000000000", "tool_version": "0.1.0", "pid": 7, "parent_pid": 1, "host": "h",
          "executable": "/x", "command": ["x"], "counters": "off"}
GPU = {"t": "gpu", "id": 0, "name": "H", "uuid": "GPU-0", "compute_capability": [9, 0], "sm_count": 132, "warps_per_sm": 64,
       "registers_per_sm": 65536, "shared_bytes_per_sm": 233472, "memory_bytes": 85899345920, "l2_bytes": 52428800,
       "peak_dram_bytes_per_s": 3352000000000}
CONTEXT = {"t": "context", "id": 1, "gpu": 0, "null_stream": 7}
NAMES = [GPU, CONTEXT, {"t": "thread", "id": 7, "name": "x"},
         {"t": "kernel_name", "id": 1, "mangled": "k", "demangled": "k", "library": "own", "evidence": "no"},
         {"t": "config", "id": 1, "grid": [1, 1, 1], "block": [256, 1, 1], "registers": 64}]
NCCL = {"t": "domain", "id": 1, "name": "NCCL"}
NCCL_PATH = {"t": "path", "id": 1, "parent": 0, "name": "ncclAllReduce", "domain": 1}
PATH = {"t": "path", "id": 1, "parent": 0, "name": "a"}


def text_of(line):
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line, separators=(",", ":"))).encode() + b"\n"


def kernel(i, start, end, **more):
    return {"t": "kernel", "start": start, "end": end, "gpu": 0, "ctx": 1, "stream": 7, "corr": i, "name": 1, "config": 1} | more


def host(kind, i, **more):
    return {"t": kind, "start": i * 10, "end": i * 10 + 5, "thread": 7} | more


def range_line(i, **more):
    return host("range", i, id=i, path=1) | more


def each(*makers):
    """Lines of each maker in turn, for 1, 2, …"""
    return (line for i in itertools.count(1) for make in makers for line in [make(i)])


def kernels(**members):
    """`members`: functions of the kernel's number."""
    return each(lambda i: kernel(i, i * 10, i * 10 + 5, **{name: make(i) for name, make in members.items()}))


def schema(entries):
    definition = {"kind": "schema", "name": "", "type": "static", "entries": entries, "size": 24}
    return {"t": "payload_schema", "id": 5, "domain": 1, "definition": definition}


def payload_ranges():
    return each(lambda i: range_line(i, domain=1, payload_schema=5, payload_data="89" * 24))


def large_numbers():
    numbers = ["1e300", MAX_TIME, MAX_TIME + 1, -MAX_TIME, 2**63 - 1, -(2**63), 2**64 - 1, 10**30, -1, 0.5]
    chance = random.Random(1)
    return each(lambda i: kernel(i, 0, 0) | {"start": chance.choice(numbers), "end": chance.choice(numbers)})


def path(i, parent, name="p"):
    return {"t": "path", "id": i, "parent": parent, "name": name}


TRACES = {
    "empty_lines": lambda: itertools.repeat(b"\n"),
    "braces": lambda: itertools.repeat("{}"),
    "random": lambda: (random.Random(i).randbytes(1 << 16) for i in itertools.count()),
    "no_numbers": lambda: itertools.repeat(kernel(1, "5", None)),
    "nesting": lambda: itertools.repeat('{"t":"kernel","x":' + "[" * 1000 + "]" * 1000 + "}"),
    "large_numbers": large_numbers,
    "sums": lambda: each(lambda i: kernel(i, -MAX_TIME, MAX_TIME)),
    "bytes": lambda: each(lambda i: host("alloc", i, api="cuMemAlloc_v2", memory="device", address=hex(i * 4096),
                                         bytes=2**64 - 1)),
    "deep_paths": lambda: each(lambda i: path(i, i - 1)),
    "cycle": lambda: itertools.chain([path(1, 2), path(2, 1), path(3, 3)], kernels(path=lambda i: 1 + i % 3)),
    "one_path": lambda: each(lambda i: path(1, 0, f"n{i}")),
    "paths": lambda: each(lambda i: path(i, 0, f"n{i}"), lambda i: kernel(i, i * 10, i * 10 + 5, path=i)),
    "iterations": lambda: each(lambda i: path(i, 0, f"it_{i}"), lambda i: range_line(i, path=i),
                               lambda i: kernel(i, i * 10, i * 10 + 5, path=i, range=i)),
    "kernel_names": lambda: each(
        lambda i: {"t": "kernel_name", "id": i, "mangled": f"_Z1k{i}", "demangled": f"k{i}", "library": "own", "evidence": "e"},
        lambda i: kernel(i, i * 10, i * 10 + 5, name=i)),
    "streams": lambda: kernels(stream=lambda i: i),
    "overlapping_streams": lambda: each(lambda i: kernel(i, 1000 + i, 10**9 - i, stream=i)),
    "contexts": lambda: each(lambda i: CONTEXT | {"id": i}, lambda i: kernel(i, i * 10, i * 10 + 5, ctx=i)),
    "gpus": lambda: each(lambda i: GPU | {"id": i}, lambda i: kernel(i, i * 10, i * 10 + 5, gpu=i)),
    "threads": lambda: each(lambda i: host("launch", i, thread=i, api="cuLaunchKernel", corr=i, ctx=1)),
    "overlap": lambda: each(lambda i: kernel(i, 1000, 2000 + i)),
    "nested": lambda: each(lambda i: kernel(i, 1000 + i, 10**9 - i)),
    "reversed": lambda: each(lambda i: kernel(i, 10**9 - i * 10, 10**9 - i * 10 + 5)),
    "nested_ranges": lambda: itertools.chain([PATH], each(lambda i: range_line(i, start=1000 + i, end=10**9 - i))),
    "open_ranges": lambda: itertools.chain([PATH], each(lambda i: range_line(i, end=None))),
    "payload": lambda: itertools.chain(
        [NCCL, schema([{"name": "Message size [bytes]", "type": "size", "offset": i % 8} for i in range(5000)]), NCCL_PATH],
        payload_ranges()),
    "payload_of_itself": lambda: itertools.chain([NCCL, schema([{"name": "a", "type": 5}] * 2), NCCL_PATH], payload_ranges()),
    "groups": lambda: itertools.chain([NCCL, NCCL_PATH | {"name": "ncclGroupStart"}], each(lambda i: range_line(i, domain=1))),
    "syncs": lambda: each(lambda i: host("sync", i, end=10**9, api="cuCtxSynchronize", ctx=1)),
    "holds": lambda: each(lambda i: {"t": "hold", "start": i * 10, "end": 10**9, "thread": 7, "cause": "lock"}),
    "events": lambda: each(lambda i: host("event_record", i, event=hex(i), stream=7, ctx=1),
                           lambda i: host("stream_wait", i, event=hex(i), stream=8, ctx=1)),
    "loss": lambda: ['{"t":"flush","at":1,"records":1,"loss":{' + ",".join(f'"c{i}":{2**64 - 1}' for i in range(5000)) + "}}"],
    "escapes": lambda: [path(1, 0, "\x1b[2J\x1b]0;x\x07<script>alert(1)</script>"), kernel(1, 1, 2, path=1)],
    "long_name": lambda: [path(1, 0, "x" * 900_000), range_line(1), kernel(1, 1, 2, path=1, range=1)],
}


def rle_frame(head, byte, blocks):
    """A zstd frame: `head`, then `blocks` times 128 KiB of one byte in four bytes each."""
    def block(kind, size, last=0):
        return struct.pack("<I", last | kind << 1 | size << 3)[:3]
    return (b"\x28\xb5\x2f\xfd\x00\x58" + block(0, len(head)) + head + (block(1, 1 << 17) + byte) * (blocks - 1)
            + block(1, 1 << 17, 1) + byte)


class HostileTraces:
    """Makes them in `folder`. size: of the files with lines, about; expanded: of the compressed file."""

    def __init__(self, folder, size=300_000, expanded=1 << 28):
        self.folder, self.size, self.expanded = folder, size, expanded

    def make(self, name):
        """Returns the folder of the trace and its bytes, after decompression."""
        trace = self.folder / name
        trace.mkdir()
        segment = trace / "trace-00000.ndjson"
        if name in FILES:
            return trace, FILES[name](self, segment) or 0
        with open(segment, "wb") as file:
            for line in itertools.chain([HEADER], NAMES, TRACES[name]()):
                text = text_of(line)
                if file.tell() != 0 and file.tell() + len(text) > self.size:
                    break
                file.write(text)
            return trace, file.tell()

    def fifo(self, segment):
        os.mkfifo(segment)

    def device(self, segment):
        segment.symlink_to("/dev/zero")

    def dangling(self, segment):
        segment.symlink_to("nowhere")

    def itself(self, segment):
        segment.symlink_to(segment.name)

    def directory(self, segment):
        segment.mkdir()

    def long_line(self, segment):
        """Sparse: takes no space."""
        segment.write_bytes(text_of(HEADER))
        os.truncate(segment, 1 << 31)
        return 64 << 20  # the longest line that is read

    def expanding(self, byte, segment):
        blocks = self.expanded >> 17
        (segment.parent / "trace-00000.ndjson.zst").write_bytes(
            rle_frame(b"".join(map(text_of, [HEADER, *NAMES])) + b'{"t":"', byte, blocks))
        return 64 << 20

    def segments(self, segment):
        for number in range(self.size // 500):
            (segment.parent / f"trace-{number:05}.ndjson").write_bytes(text_of(HEADER | {"segment": number}))
        return self.size


FILES = {
    "fifo": HostileTraces.fifo,
    "device": HostileTraces.device,
    "dangling": HostileTraces.dangling,
    "link_to_itself": HostileTraces.itself,
    "directory": HostileTraces.directory,
    "long_line": HostileTraces.long_line,
    "expanding_line": lambda traces, segment: traces.expanding(b"a", segment),
    "expanding_lines": lambda traces, segment: traces.expanding(b"\n", segment),
    "segments": HostileTraces.segments,
}
