# SPDX-License-Identifier: Apache-2.0
"""Tests the files of tools/dashboards with a real Prometheus: prometheus_test.py RANGEFINDER REPOSITORY REPLAY BUILD

Starts Prometheus on a free loopback port, with its own folder, to scrape a `serve`.
Skipped if prometheus is not installed (tools/setup --all).
"""
import itertools
import json
import re
import shutil
import socket
import subprocess
import sys
import urllib.parse
import urllib.request

from serve_case import DEADLINE_SECONDS, SKIPPED, Serving, main, metric_values  # first: it extends sys.path
import cli_case
from export_case import recorded
from obedient import ObedientCase

NAME = re.compile(r"rangefinder_\w+")


def dashboards():
    return cli_case.REPOSITORY / "tools" / "dashboards"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    def __init__(self, folder, target):
        folder.mkdir()
        config = (dashboards() / "prometheus.yml").read_text().replace("15s", "1s")
        assert "127.0.0.1:7117" in config
        (folder / "prometheus.yml").write_text(config.replace("127.0.0.1:7117", target))
        shutil.copy(dashboards() / "rules.yml", folder)
        self.url = f"http://127.0.0.1:{free_port()}"
        self.log = open(folder / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             "--web.listen-address=" + self.url.removeprefix("http://")], stdout=self.log, stderr=self.log)

    def ask(self, path, **query):
        address = f"{self.url}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(address, timeout=DEADLINE_SECONDS) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        """[(labels, value)]"""
        return [(row["metric"], float(row["value"][1])) for row in self.ask("/api/v1/query", query=text)["result"]]

    def is_ready(self):
        try:
            return bool(self.query("up == 1"))
        except OSError:
            assert self.process.poll() is None, "prometheus has ended"
            return False

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        self.log.close()


class PrometheusTest(Serving, ObedientCase):
    def prometheus(self, served):
        out = Prometheus(self.place / "prometheus", f"127.0.0.1:{served.port}")
        self.addCleanup(out.stop)
        self.wait_until(out.is_ready, "the first answer to Prometheus")
        return out

    def test_prometheus_stores_what_is_served(self):
        served = self.serve(recorded("rtdetr_sampled"))
        prometheus = self.prometheus(served)

        has = prometheus.query('{__name__=~"rangefinder_.+"}')

        def key(name, labels):
            return name, tuple(sorted(labels.items()))

        text = served.ask("/metrics")[2].decode()
        expected = {}
        for written, value in metric_values(text).items():
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', written))
            expected[key(written.split("{")[0], labels)] = value
        got = {key(labels.pop("__name__"), {name: text for name, text in labels.items() if name not in ("job", "instance")}):
               value for labels, value in has}
        self.assertGreater(len(expected), 300)
        self.assertEqual(got.keys(), expected.keys())
        for one, value in expected.items():
            self.assertAlmostEqual(got[one], value, delta=1e-9 * max(1, value), msg=one)

    def test_the_rules_are_loaded_and_give_the_shares_of_the_trace(self):
        served = self.serve(recorded("rtdetr_sampled"))
        prometheus = self.prometheus(served)
        share = "rangefinder:module_dram_peak_share:total"
        self.wait_until(lambda: prometheus.query(share), "the first evaluation")

        rules = [rule for group in prometheus.ask("/api/v1/rules")["groups"] for rule in group["rules"]]
        shares = prometheus.query(share)

        self.assertEqual({rule["health"] for rule in rules}, {"ok"}, rules)
        self.assertEqual(len(rules), 13)
        metrics = served.metrics()
        peak = next(value for key, value in metrics.items() if key.startswith("rangefinder_gpu_dram_peak"))
        self.assertGreater(len(shares), 100)
        for labels, value in shares:
            def total(name):
                return sum(number for key, number in metrics.items()
                           if key.startswith(name + "{") and f'module="{labels["module"]}"' in key)
            expected = total("rangefinder_dram_bytes_total") / total("rangefinder_kernel_seconds_total") / peak
            self.assertAlmostEqual(value, expected, delta=1e-9 + 1e-6 * expected, msg=labels["module"])
            self.assertTrue(0 <= value < 1.1, labels)

    def test_rates_of_a_running_program_are_recorded(self):
        program = self.start_program(RANK="3")
        prometheus = self.prometheus(self.serve())
        program.do("storm on")

        self.wait_until(lambda: any(labels["module"] == "storm" and labels["rank"] == "3" and value > 0 for labels, value
                                    in prometheus.query("rangefinder:module_launches:rate1m")), "a rate of launches")

        rates = prometheus.query('rangefinder:module_gpu_time:rate1m{module="storm"}')
        self.assertTrue(all(0 < value for _, value in rates) and rates)
        program.do("storm off")
        self.end_program(program)

    def test_a_server_that_ends_is_an_alert(self):
        served = self.serve(recorded("copy_storm"))
        prometheus = self.prometheus(served)

        served.stop()

        self.wait_until(lambda: prometheus.query('ALERTS{alertname="RangefinderDown"}'), "the alert")

    def test_alerts_fire_at_the_right_time(self):
        shutil.copy(dashboards() / "rules.yml", self.place)
        shutil.copy(cli_case.REPOSITORY / "tests/serve/rules_test.yml", self.place)

        done = subprocess.run(["promtool", "test", "rules", "rules_test.yml"], cwd=self.place, capture_output=True,
                              text=True, check=False, timeout=DEADLINE_SECONDS)

        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rules = (dashboards() / "rules.yml").read_text()
        tested = (self.place / "rules_test.yml").read_text()
        self.assertEqual(set(re.findall(r"alert: (\w+)", rules)), set(re.findall(r"alertname: (\w+)", tested)))

    def test_every_name_of_the_dashboard_and_the_rules_is_served(self):
        served = self.serve(recorded("rtdetr_sampled"))
        there = {key.split("{")[0] for key in served.metrics()}
        text = served.ask("/metrics")[2].decode()
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)

        for file in ("grafana.json", "rules.yml"):
            used = set(NAME.findall((dashboards() / file).read_text()))
            self.assertGreater(len(used), 4, file)
            self.assertEqual(used - there, set(), file)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def test_every_query_of_the_dashboard_has_a_result(self):
        prometheus = self.prometheus(self.serve(recorded("rtdetr_sampled")))
        board = json.loads((dashboards() / "grafana.json").read_text())
        questions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
        self.assertGreater(len(questions), 12)
        known = {variable["name"] for variable in board["templating"]["list"]} | {"__rate_interval"}
        for question in questions:
            self.assertLessEqual(set(re.findall(r"\$(\w+)", question)), known, question)
            asked = question.replace("$__rate_interval", "10s")
            asked = re.sub(r"\$\w+", ".*", asked)
            answered = lambda: prometheus.query(asked)  # noqa: E731: a rate needs a second scrape
            if "> 0" in question:
                answered()
            else:
                self.wait_until(answered, question)
        places = [panel["gridPos"] for panel in board["panels"]]
        self.assertLessEqual(max(place["x"] + place["w"] for place in places), 24)
        for a, b in itertools.combinations(places, 2):
            apart = (a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"] or
                     a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"])
            self.assertTrue(apart, (a, b))


if __name__ == "__main__":
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        print("skipped: no prometheus: tools/setup --all")
        sys.exit(SKIPPED)
    main(__doc__)
