# SPDX-License-Identifier: Apache-2.0
"""A program that executes commands (programs/obedient.cpp), and clients of its control socket."""

import json
import pathlib
import select
import signal
import socket
import subprocess
import time

from harness import DEADLINE_SECONDS, Build, InjectionCase, host_environment
from trace import Trace


class Client:
    """A client that exchanges lines with a control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(DEADLINE_SECONDS)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.buffer = b""
        self.number = 0

    def send(self, command, **fields):
        self.number += 1
        self.socket.sendall(json.dumps({"v": 1, "id": self.number, "command": command} | fields).encode() + b"\n")
        return self.number

    def receive(self):
        """The next line; None: the process closed the connection."""
        while b"\n" not in self.buffer:
            try:
                part = self.socket.recv(65536)
            except ConnectionResetError:
                part = b""
            if not part:
                return None
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def ask(self, command, **fields):
        number = self.send(command, **fields)
        while True:
            answer = self.receive()
            if answer is None or answer.get("id") == number:
                return answer

    def close(self):
        self.socket.close()


class Obedient:
    def __init__(self, place, runtime, variables):
        self.place, self.runtime = place, runtime
        self.violations = place / "violations"
        environment = host_environment(runtime, {
            "CUDA_INJECTION64_PATH": str(Build.injection_library), "NVTX_INJECTION64_PATH": str(Build.injection_library),
        } | variables) | {"FAKE_VIOLATIONS": str(self.violations)}
        self.process = subprocess.Popen([str(Build.program("obedient"))], env=environment, cwd=place, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self._answer() == "ready"

    def _answer(self):
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_SECONDS)
        if not ready:
            raise AssertionError("the program does not answer")
        return self.process.stdout.readline().strip()

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._answer()

    @property
    def socket_path(self):
        return self.runtime / "rangefinder" / f"{self.process.pid}.sock"

    def client(self):
        return Client(self.socket_path)

    def idle_connections(self, most):
        """Up to `most` connections that send nothing; fewer if the queue of connections is full."""
        out = []
        while len(out) < most:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.setblocking(False)
            try:
                connection.connect(str(self.socket_path))
            except BlockingIOError:
                connection.close()
                break
            out.append(connection)
        return out

    def state(self):
        """As `ps` shows it: T is stopped."""
        return pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]

    def resources(self):
        """Threads, open files, resident KiB."""
        return [int(word) for word in self.do("status").split()]

    def thread_heaps(self):
        """Resident KiB of glibc's per-thread heaps: anonymous mappings aligned to 64 MiB."""
        kib, counts = 0, False
        with open(f"/proc/{self.process.pid}/smaps", encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if "-" in words[0]:
                    counts = len(words) == 5 and int(words[0].partition("-")[0], 16) % (64 << 20) == 0
                elif words[0] == "Rss:" and counts:
                    kib += int(words[1])
        return kib

    def kill(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def end(self):
        """Exit status and stderr of the program."""
        if self.process.poll() is None:
            self.process.stdin.write("quit\n")
            self.process.stdin.flush()
        _, stderr = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode, stderr


class ObedientCase(InjectionCase):
    """A test with one running program. Its end is checked."""

    def start_program(self, **variables):
        program = Obedient(self._new_place("run"), self.runtime, variables)
        self.addCleanup(program.kill)
        return program

    def end_program(self, program, stderr=""):
        status, said = program.end()
        self.assertEqual((status, said), (0, stderr))
        broken = program.violations.read_text() if program.violations.exists() else ""
        self.assertEqual(broken, "", "the library did what a guest must not do")
        self.assertFalse(program.socket_path.exists(), "the socket's file was left behind")

    def suspend(self, program, connections):
        """Stops the program. Fills its queue of connections, and appends them to the list `connections`."""
        program.process.send_signal(signal.SIGSTOP)
        self.addCleanup(program.process.send_signal, signal.SIGCONT)  # no error if it has ended
        self.wait_until(lambda: program.state() == "T", "the stopped program")
        connections += program.idle_connections(64)
        self.assertLess(len(connections), 64, "the queue of connections is never full")
        for connection in connections:
            self.addCleanup(connection.close)

    def connect(self, program):
        client = program.client()
        self.addCleanup(client.close)
        return client

    def ok(self, answer):
        self.assertTrue(answer is not None and answer["ok"], answer)
        return answer

    def window_trace(self, answer):
        """The trace of a window that an answer reports as complete; its counts balance."""
        window = self.ok(answer)["window"]
        self.assertTrue(window["complete"], answer)
        trace = Trace(window["folder"])
        self.assert_balanced(trace)
        return trace

    def wait_until(self, condition, what):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"this never came: {what}")
            time.sleep(0.01)  # between two polls: at most 200 per second are allowed
