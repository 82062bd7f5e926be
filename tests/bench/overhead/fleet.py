# SPDX-License-Identifier: Apache-2.0
"""A process that is measured, controlled through a socket.

A process that dies or does not answer in time is dropped, with the end of its output as the reason; the others go on.
"""
import glob
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection

FOLDER = pathlib.Path(__file__).resolve().parent
BYTES = "dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum"
READY_S, ANSWER_S, END_S = 150, 60, 30


def find_tool(name):
    """Path of nsys or ncu: in PATH, in the toolkit, or in its own folder."""
    places = [shutil.which(name), f"/usr/local/cuda/bin/{name}"]
    places += sorted(glob.glob(f"/opt/nvidia/nsight-*/*/bin/{name}") + glob.glob(f"/opt/nvidia/nsight-*/*/{name}"))
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def environment(mode, build, folder):
    """Our environment without variables of Rangefinder, plus those of the mode."""
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # one forward needs no more, and idle threads may spin
    found = {k: v for k, v in os.environ.items()
             if not k.startswith("RANGEFINDER_") and k not in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")} | threads
    if mode.injects:
        library = str(build / mode.injected_file)
        found |= {"CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library,
                  "RANGEFINDER_OUT": str(folder / "trace"), **dict(mode.variables)}
    return found


def command(mode, works, build, folder, path):
    words = [sys.executable, str(FOLDER / "worker.py"), path, str(build / "tests/overhead_load.so"), mode.tool or "none",
             *works]
    if mode.wrapper == "nsys":
        return [find_tool("nsys"), "profile", "-t", "cuda,nvtx", "--sample=none", "--cpuctxsw=none",
                "--cuda-graph-trace=node", "--force-overwrite=true", "-o", str(folder / "report"), *words]
    if mode.wrapper == "ncu":
        return [find_tool("ncu"), "--metrics", BYTES, "--cache-control", "none", "--clock-control", "none",
                "--force-overwrite", "--export", str(folder / "report"), *words]
    return words


class Gone(Exception):
    """The process cannot be measured any more; the text is the reason."""


class Process:
    def __init__(self, mode, works, build, folder):
        self.mode, self.works, self.folder = mode, works, folder
        folder.mkdir(parents=True)
        self._home = tempfile.TemporaryDirectory(prefix="overhead-")  # short: the path of a socket must be short
        path = f"{self._home.name}/socket"
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(path)
        self._listening.listen(1)
        self._end = None
        self._told_to_quit = False
        with open(folder / "log", "wb") as log:
            self._process = subprocess.Popen(command(mode, works, build, folder, path), stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log, env=environment(mode, build, folder),
                                             start_new_session=True, cwd=folder)

    def wait_until_ready(self):
        try:
            self._end = self._accept()
        finally:
            self._listening.close()
            self._home.cleanup()
        self.answer()

    def _accept(self):
        self._listening.settimeout(0.2)
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            try:
                end = self._listening.accept()[0]
                end.setblocking(True)
                return Connection(end.detach())
            except TimeoutError:
                if self._process.poll() is not None:
                    raise Gone(self.last_words()) from None
        raise Gone(f"not ready after {READY_S} s: {self.last_words()}")

    def ask(self, do, **more):
        self.tell(do, **more)
        return self.answer()

    def tell(self, do, **more):
        try:
            self._end.send({"do": do, **more})
            self._told_to_quit = do == "quit"
        except OSError:
            raise Gone(self.last_words()) from None

    def answer(self):
        try:
            if self._end.poll(ANSWER_S):
                return self._end.recv()
        except (EOFError, OSError):
            raise Gone(self.last_words()) from None
        raise Gone(f"no answer within {ANSWER_S} s: {self.last_words()}")

    def last_words(self):
        text = (self.folder / "log").read_text(encoding="utf-8", errors="replace").strip()
        return " / ".join(text.splitlines()[-3:])[-500:] or "it ended without output"

    def end(self):
        """Lets it end by itself if it was told to, so that its trace is whole; kills it otherwise."""
        try:
            if self._told_to_quit:
                self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._process.wait()
