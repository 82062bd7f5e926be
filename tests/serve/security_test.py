# SPDX-License-Identifier: Apache-2.0
"""Requests that `rangefinder serve` refuses: security_test.py RANGEFINDER REPOSITORY REPLAY BUILD"""
import json
import select
import shutil
import subprocess
import urllib.parse
from pathlib import Path
from random import Random

from serve_case import ServeCase, main, receive_all  # first: it extends sys.path
import cli_case


def head(target="/api/traces", method="GET", **headers):
    lines = [f"{method} {target} HTTP/1.1"] + [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


class SecurityTest(ServeCase):
    def setUp(self):
        super().setUp()
        self.make_trace(name="traces")
        self.served = self.serve("traces")
        self.own = f"127.0.0.1:{self.served.port}"

    def status(self, request):
        return status_of(self.served.raw(request))

    def get(self, target="/api/traces", **headers):
        return self.status(head(target, Host=self.own, Connection="close", **headers))

    def test_only_the_loopback_is_bound(self):
        sockets = Path(f"/proc/{self.served.process.pid}/net/tcp").read_text(encoding="ascii").splitlines()
        port = f"{self.served.port:04X}"
        bound = {line[1].split(":")[0] for line in map(str.split, sockets[1:]) if line[1].endswith(":" + port) and line[3] == "0A"}

        self.assertEqual(bound, {"0100007F"})

    def test_a_foreign_host_name_is_refused(self):
        for host in ("evil.example", f"evil.example:{self.served.port}", "127.0.0.1", f"127.0.0.1:{self.served.port + 1}",
                     f"127.0.0.1.evil.example:{self.served.port}", f"0.0.0.0:{self.served.port}", "", "null"):
            self.assertEqual(self.status(head(Host=host, Connection="close")), 421, host)
        for host in (self.own, f"localhost:{self.served.port}", f"LocalHost:{self.served.port}"):
            self.assertEqual(self.status(head(Host=host, Connection="close")), 200, host)

    def test_a_request_has_one_host(self):
        self.assertEqual(self.status(head(Connection="close")), 400)
        twice = f"GET / HTTP/1.1\r\nHost: {self.own}\r\nHost: evil.example\r\n\r\n".encode()
        self.assertEqual(self.status(twice), 400)

    def test_other_pages_get_nothing(self):
        for origin in ("http://evil.example", "null", f"https://{self.own}", f"http://{self.own}.evil.example",
                       f"http://localhost:{self.served.port + 1}", f"http://user@{self.own}"):
            self.assertEqual(self.get(Origin=origin), 403, origin)
        for site in ("cross-site", "same-site"):
            self.assertEqual(self.get(Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors"), 403, site)
            self.assertEqual(self.get("/", Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate"), 200, site)
        self.assertEqual(self.get(Origin=f"http://{self.own}", Sec_Fetch_Site="same-origin"), 200)
        _, headers, _ = self.served.ask("/api/traces")
        self.assertNotIn("access-control-allow-origin", headers)

    def test_every_answer_has_a_strict_policy(self):
        for target in ("/", "/trace", "/metrics", "/api/traces", "/api/columns", "/api/modules", "/api/live?pid=1",
                       "/nothing"):
            _, headers, _ = self.served.ask(target)
            policy = headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy, target)
            self.assertIn("frame-ancestors 'none'", policy, target)
            self.assertNotIn("unsafe", policy, target)
            self.assertEqual(headers["x-content-type-options"], "nosniff", target)
            self.assertEqual(headers["x-frame-options"], "DENY", target)
            self.assertEqual(headers["referrer-policy"], "no-referrer", target)
            self.assertEqual(headers["cross-origin-resource-policy"], "same-origin", target)
            self.assertEqual(headers["cache-control"], "no-store", target)
        self.assertIn("connect-src 'self'", self.served.ask("/")[1]["content-security-policy"])
        self.assertNotIn("connect-src", self.served.ask("/trace")[1]["content-security-policy"])

    def test_paths_outside_of_the_routes_are_refused(self):
        (self.folder / "secret").write_text("a secret")
        for target in ("/../secret", "/..%2fsecret", "/%2e%2e/secret", "//etc/passwd", "/traces/trace-00000.ndjson",
                       "/api/../api/traces", "/api/traces/", "/\\..\\secret", "/api/traces%00"):
            answer = self.served.raw(head(target, Host=self.own, Connection="close"))
            self.assertIn(status_of(answer), (400, 404), target)
            self.assertNotIn(b"secret", answer)
            self.assertNotIn(b"root:", answer)
        for trace in ("..", "../traces", "%2e%2e", "./.", "/etc", str(self.folder / "traces"), "traces/../traces", "\0"):
            query = "/api/modules?trace=" + urllib.parse.quote(trace, safe="")
            self.assertEqual(self.get(query), 404, trace)

    def test_links_out_of_the_folder_are_not_followed(self):
        inside = self.folder / "served"
        inside.mkdir()
        outside = self.make_trace(name="outside")
        (inside / "folder").symlink_to(outside)
        linked = inside / "files"
        linked.mkdir()
        (linked / "trace-00000.ndjson").symlink_to(outside / "trace-00000.ndjson")
        whole = self.make_trace(name="served/whole")

        served = self.serve(inside)

        self.assertEqual([row["trace"] for row in served.json("/api/traces")], ["whole"])
        # Nor a link that is made after the list.
        (whole / "trace-00000.ndjson").unlink()
        (whole / "trace-00000.ndjson").symlink_to(outside / "trace-00000.ndjson")
        self.assertEqual(served.ask("/api/modules?trace=whole")[0], 404)

    def test_only_get_and_head_without_a_body_are_answered(self):
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PRI"):
            self.assertEqual(self.status(head(method=method, Host=self.own)), 405, method)
        self.assertEqual(self.get(Content_Length="5"), 413)
        self.assertEqual(self.get(Transfer_Encoding="chunked"), 413)
        self.assertEqual(self.get(Range="bytes=0-1"), 400)
        status, headers, body = self.served.ask("/api/traces", method="HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["content-length"]), 2)

    def test_ambiguous_requests_are_refused(self):
        for request in (b"GET /\r\n\r\n", b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n", b"\r\n\r\n",
                        b"GET / HTTP/1.1\nHost: x\r\n\r\n", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
                        b"GET / HTTP/1.1\r\n Host: x\r\n\r\n", b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: " + self.own.encode() + b"\r\n\r\n"):
            self.assertEqual(self.status(request), 400, request)

    def test_a_large_request_is_refused_before_it_is_stored(self):
        self.assertEqual(self.get("/" + "a" * 5000), 414)
        self.assertEqual(self.get(X="a" * 20_000), 431)
        self.assertEqual(self.status(b"GET /" + b"a" * (1 << 22)), 431)
        self.assertEqual(self.status(head(Host=self.own, method="POST", Content_Length=str(1 << 40)) + b"x" * (1 << 20)), 405)
        status = Path(f"/proc/{self.served.process.pid}/status").read_text(encoding="ascii").splitlines()
        peak = next(line for line in status if "VmHWM" in line)
        self.assertLess(int(peak.split()[1]), 200_000, "KiB")

    def test_a_slow_client_is_disconnected_and_blocks_no_other(self):
        with self.served.connect() as slow:
            slow.sendall(b"GET / HTTP/1.1\r\n")
            self.assertEqual(self.get(), 200)  # meanwhile

            answer = receive_all(slow)

        self.assertEqual(status_of(answer), 408)

    def test_single_bytes_do_not_extend_the_deadline_of_a_head(self):
        with self.served.connect() as slow:
            slow.sendall(b"GET / HTTP/1.1\r\nX: ")
            answer = b""
            for _ in range(200):
                ready, _, _ = select.select([slow], [], [], 0.2)
                if ready:
                    answer = receive_all(slow)
                    break
                slow.sendall(b"a")

        self.assertEqual(status_of(answer), 408)

    def test_connections_are_bounded_and_released(self):
        held = [self.served.connect() for _ in range(48)]
        for connection in held:
            connection.sendall(b"GET / HTTP/1.1\r\n")  # an incomplete head holds a thread
        try:
            answers = []
            while 503 not in answers and len(answers) < 50:
                answers.append(status_of(self.served.raw(head(Host=self.own, Connection="close"))))
            self.assertIn(503, answers)
        finally:
            for connection in held:
                connection.close()
        while self.get() == 503:
            pass  # the threads notice the closed connections one by one

        self.assertEqual(self.get(), 200)

    def test_damaged_requests_do_no_harm(self):
        good = head("/api/modules?trace=trace&pid=1", Host=self.own, Connection="close", Accept="*/*")
        random = Random(9)
        for _ in range(300):
            text = bytearray(good)
            for _ in range(random.randint(1, 6)):
                text[random.randrange(len(text))] = random.randrange(256)
            cut = random.randrange(len(text)) if random.random() < 0.3 else len(text)
            with self.served.connect() as connection:
                connection.sendall(bytes(text[:cut]))
                connection.shutdown(1)  # end of input, so that serve does not wait for the rest
                status = status_of(receive_all(connection))
            self.assertIn(status, (None, 200, 400, 403, 404, 405, 413, 421), bytes(text))

        self.assertEqual(self.get(), 200)

    def test_without_its_module_serve_reports_it_and_the_rest_works(self):
        build = Path(cli_case.RANGEFINDER).parent.parent
        copy = self.folder / "copy"
        (copy / "bin").mkdir(parents=True)
        (copy / "lib").mkdir()
        shutil.copy(cli_case.RANGEFINDER, copy / "bin")
        for library in (build / "lib").glob("libsimdjson.so*"):
            shutil.copy(library, copy / "lib")

        def call(*words):
            return subprocess.run([copy / "bin/rangefinder", *words], cwd=self.folder, text=True, capture_output=True,
                                  timeout=120, check=False)

        self.check_code(call("report", "traces"), 0)
        missing = call("serve")
        self.check_code(missing, 3)
        self.assertIn("built without serve", missing.stderr)
        (copy / "lib/librangefinder_http.so").write_bytes(b"no library")
        broken = call("serve")
        self.check_code(broken, 3)
        self.assertIn("libcpp-httplib", broken.stderr)

    def test_refusals_are_counted(self):
        self.assertEqual(self.status(head(Host="evil.example")), 421)
        self.assertEqual(self.get("/" + "a" * 5000), 414)

        metrics = self.served.metrics()

        self.assertEqual(metrics['rangefinder_serve_refused_requests_total{reason="foreign"}'], 1)
        self.assertEqual(metrics['rangefinder_serve_refused_requests_total{reason="too_large"}'], 1)

    def test_wrong_queries_are_reported(self):
        for target in ("/api/live", "/api/live?pid=x", "/api/modules?pid=-1", "/api/timeline?stretches=0",
                       "/api/live?pid=1&every_ms=5"):
            status, _, body = self.served.ask(target)
            self.assertEqual(status, 400, target)
            self.assertIn("error", json.loads(body))

    def test_a_taken_port_is_reported_and_without_one_a_free_port_is_used(self):
        done = self.call("serve", "--port", str(self.served.port), XDG_RUNTIME_DIR=str(self.runtime))

        self.check_code(done, 3)
        self.assertIn("is taken", done.stderr)
        self.check_code(self.call("serve", "nowhere"), 3)
        self.check_code(self.call("serve", "--port", "70000"), 2)


if __name__ == "__main__":
    main(__doc__)
