#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what two builds of `rangefinder` write about the same traces, byte for byte.

    compare_builds.py BEFORE AFTER [--quick] [--only REGEX] [--list] [--jobs N] [--explained FILE]

BEFORE and AFTER are build folders, or the programs. Both read the recordings of tests/replay, variants of them that are
cut, damaged, reordered or in several segments, and the traces of tests/damaged_traces if BEFORE has that program. Each
command runs with both: stdout, stderr, the exit code, written files and the answers of `serve` must be equal. Prints
each command that differs with a short diff, then the counts. OUT in a command is a folder for what it writes. --quick
takes some of the traces and options. --only takes the commands that match.

FILE has one line for each intended change: a regular expression that matches commands, ` # `, the reason. Commands that
match may differ; the last lines count them by reason. A line that begins with # is a comment.

Exit code 0: no difference, or all are explained. 1: differences. 2: wrong use. Needs 300 MB for temporary files. No other
program may run under Rangefinder meanwhile, because `serve` shows it.
"""
import argparse
import base64
import collections
import concurrent.futures
import difflib
import functools
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.parse
import zlib

sys.dont_write_bytecode = True

from compared_commands import commands  # noqa: E402

TIMEOUT_S = 300  # of one command
MAX_DIFF_LINES, MAX_DIFF_WIDTH = 15, 160


def answer_of(port, route):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", route)
        answer = connection.getresponse()
        return f"{answer.status} {answer.getheader('Content-Type')}\n".encode() + answer.read()
    except (OSError, http.client.HTTPException) as error:
        return repr(error).encode()
    finally:
        connection.close()


class Program:
    def __init__(self, place):
        path = pathlib.Path(place)
        self.path = (path / "bin/rangefinder" if path.is_dir() else path).resolve()

    def environment(self, folder, **variables):
        """Without the caller's settings. Programs that run under Rangefinder are searched in a folder that is empty."""
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LD_LIBRARY_PATH") if key in os.environ}
        return {**kept, "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": str(folder), **variables}

    def run(self, folder, *words):
        """{name: bytes} of one step."""
        variables = dict(word.split("=", 1) for word in itertools.takewhile(re.compile(r"[A-Z]+=").match, words))
        words = [str(self.path), *words[len(variables):]]
        if words[1] == "copy":
            shutil.copytree(folder / words[2], folder / words[3])
            return {}
        if words[1] == "serve":
            return self.serve(folder, [word for word in words if word[0] != "/" or word == words[0]],
                              [word for word in words[1:] if word[0] == "/"])
        try:
            done = subprocess.run(words, cwd=folder, env=self.environment(folder, **variables), capture_output=True,
                                  stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired:
            return {"stdout": b"", "stderr": b"", "exit code": b"not done after %d s" % TIMEOUT_S}
        return {"stdout": done.stdout, "stderr": done.stderr, "exit code": b"%d" % done.returncode}

    def serve(self, folder, words, routes):
        with subprocess.Popen([*words, "--port", "0"], cwd=folder, env=self.environment(folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            timer = threading.Timer(TIMEOUT_S, process.kill)
            timer.start()
            url = process.stdout.readline().decode().strip()
            out = {}
            for route in routes if url else ():
                out[f"GET {route}"] = answer_of(urllib.parse.urlsplit(url).port, route)
            process.terminate()
            rest, errors = process.communicate()
            timer.cancel()
        # Nothing else depends on the time or the machine: the port is any free one.
        start = re.sub(r":\d+/", ":PORT/", url).encode()
        return {**out, "stdout": start + rest, "stderr": errors, "exit code": b"%d" % process.returncode}


def outcome(program, top, number, steps):
    """{step and name: bytes} of a command, with the files that it wrote. Both programs get the same folder."""
    folder = top.parent / "out" / str(number)
    folder.mkdir(parents=True)
    out = {}
    for at, words in enumerate(steps, 1):
        words = [re.sub(r"^OUT\b", f"../out/{number}", word) for word in words]
        out.update({f"{name} of step {at}" if len(steps) > 1 else name: value
                    for name, value in program.run(top, *words).items()})
    written = sorted(file for file in folder.rglob("*") if file.is_file())
    out.update({str(file.relative_to(folder)): file.read_bytes() for file in written})
    shutil.rmtree(folder)
    return out


def text_of(data, folder):
    """JSON is indented, the packed tables of a page and databases are unpacked."""
    if data.startswith(b"SQLite format 3"):
        file = pathlib.Path(folder) / "shown.sqlite"
        file.write_bytes(data)
        with sqlite3.connect(file) as database:
            return "\n".join(database.iterdump())
    text = data.decode(errors="replace")
    packed = re.search(r'<script type="text/plain" id="tables">(.*?)</script>', text, re.DOTALL)
    if packed:
        tables = json.loads(zlib.decompress(base64.b64decode(packed.group(1))))
        return text[:packed.start(1)] + json.dumps(tables, indent=1, ensure_ascii=False) + text[packed.end(1):]
    if text.startswith("{") and text.count("\n") < 2:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    return text


def lines_of(data, folder):
    """Short lines for a diff."""
    try:
        text = text_of(data, folder)
    except (ValueError, zlib.error, sqlite3.Error):
        text = data.decode(errors="replace")
    return [line[at:at + MAX_DIFF_WIDTH] for line in text.split("\n")
            for at in range(0, len(line) or 1, MAX_DIFF_WIDTH)]


def first_difference(before, after):
    """A unified diff of the first lines that differ. One of all lines could take minutes."""
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after)))
    part = slice(max(same - 2, 0), same + 200)
    lines = list(difflib.unified_diff(before[part], after[part], n=1, lineterm=""))[3:]
    return [f"from line {same + 1}:", *lines] if lines else ["(the same text of other bytes)"]


def short_diff(before, after, folder):
    for name in [*before, *(name for name in after if name not in before)]:
        if name not in before or name not in after:
            yield f"  {name}: only {'before' if name in before else 'after'}"
        elif before[name] != after[name]:
            yield f"  {name}:"
            yield from ("    " + line for line in first_difference(lines_of(before[name], folder),
                                                                   lines_of(after[name], folder)))


def compare(programs, top, item):
    """(text of the command, lines of the difference or None, exit codes of BEFORE)."""
    number, (text, steps) = item
    before, after = (outcome(program, top, number, steps) for program in programs)
    codes = [value.decode() for name, value in before.items() if name.startswith("exit code")]
    if before == after:
        return text, None, codes
    with tempfile.TemporaryDirectory() as folder:
        return text, list(itertools.islice(short_diff(before, after, folder), MAX_DIFF_LINES)), codes


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def read_explained(place):
    try:
        lines = pathlib.Path(place).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    out = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            commands_of, mark, reason = line.partition(" # ")
            if not mark:
                raise argparse.ArgumentTypeError(f"{place}: a line has no reason: {line}")
            out.append((pattern(commands_of), reason))
    return out


def wanted():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Program)
    parser.add_argument("after", type=Program)
    parser.add_argument("--quick", action="store_true", help="some of the recordings and options")
    parser.add_argument("--only", type=pattern, default="", metavar="REGEX", help="only commands that match")
    parser.add_argument("--list", action="store_true", help="print the commands and run none")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="programs at a time")
    parser.add_argument("--explained", type=read_explained, default=[], metavar="FILE", help="intended changes")
    options = parser.parse_args()
    for program in (options.before, options.after):
        if not os.access(program.path, os.X_OK) or program.run(pathlib.Path("/"), "--version")["exit code"] != b"0":
            parser.error(f"{program.path} cannot be run")
    return options


def main():
    options = wanted()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # removes the temporary files
    explained, codes, ran, different = collections.Counter(), collections.Counter(), 0, 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        top = pathlib.Path(temporary) / "traces"
        top.mkdir()
        found = commands(options.before, top, options.quick, pool)
        chosen = [item for item in found.items() if re.search(options.only, item[0])]
        if options.list:
            print(*(text for text, _ in chosen), sep="\n")
            return 0
        compared = functools.partial(compare, (options.before, options.after), top)
        for text, difference, of_steps in pool.map(compared, enumerate(chosen)):
            ran += 1
            codes.update(of_steps)
            if difference is None:
                continue
            reason = next((reason for of, reason in options.explained if of.search(text)), None)
            if reason is not None:
                explained[reason] += 1
                continue
            different += 1
            print(text, *difference, sep="\n", flush=True)
    for reason in dict.fromkeys(reason for _, reason in options.explained):
        print(f"{explained[reason]} explained: {reason}" if explained[reason] else f"explains nothing: {reason}")
    of_codes = ", ".join(f"{code}: {number}" for code, number in sorted(codes.items()))
    print(f"{ran} commands, {different} differences, {sum(explained.values())} explained; exit codes {of_codes}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
