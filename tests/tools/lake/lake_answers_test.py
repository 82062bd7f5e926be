# SPDX-License-Identifier: Apache-2.0
"""`report --json`, a lake asked by DuckDB and, where it is installed, ClickHouse give the same answers: two recorded
ranks, recorded jobs with a late rank, 64 made ranks, two runs.

    lake_answers_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY WORK

WORK: a folder for what npm installs. Exit code 77, with the reason: there is no node or npm, or npm reaches no
registry.
"""
import functools
import json
import math
import re
import shutil
import subprocess

import lake_case  # puts the folder above on the path: first
import cli_case
import examples_test
from lake_case import Lake

JOBS = "tests/unit/analysis/ranks/recorded_jobs"
RANKS = "tests/unit/analysis/ranks/recorded_ranks"
SUMS = ("calls", "host_ns", "kernels", "gpu_ns", "gpu_ns_exclusive", "gpu_busy_ns", "dram_read_bytes", "dram_write_bytes",
        "l2_bytes")
LATE = ("gpu", "host", "copies", "launches", "layer", "graph")
# The part of a value by which the report's quantiles may be off: duration_histogram.h.
QUANTILE_ERROR = 1 / 128
MADE_RANKS = 64


def folded(path):
    """Numbers as layers, as in `causes`."""
    return "/".join("*" if part.isdigit() else part for part in path.split("/"))


# Where ClickHouse has another word, from left to right.
DIALECT = ((r"^FROM", "SELECT * FROM"), (r"regressions\('(\w+)', '(\w+)'\)", r"regressions(run_a = '\1', run_b = '\2')"),
           (r"quantile_cont\((\w+), ([\d.]+)\)", r"quantileExactInclusive(\2)(\1)"))


# Each view, with an order of its rows.
VIEWS = {"modules": "run, process, module", "waits": "run, process, waited_ns, transfer_ns, made_wait_ns",
         "stragglers": "run, process", "causes": "run, process, module, cause",
         "slow_iterations": "run, process, iteration", "regressions('none', 'copies')": "module"}


def in_clickhouse(query):
    for words, others in DIALECT:
        query = re.sub(words, others, query)
    return query


class Answers(Lake):
    def setUp(self):
        super().setUp()
        self.lake = self.folder / "lake"
        self.clickhouse = lake_case.new_database()

    def add(self, place, run):
        self.check_code(self.call("lake", "add", place, "--out", self.lake, "--run", run), 0)
        if self.clickhouse:
            self.clickhouse.load(self.lake, "--run", run)

    def ask(self, place, query):
        """Rows of DuckDB's answer. ClickHouse's is the same."""
        rows = super().ask(place, query)
        if self.clickhouse:
            others = [{key: value for key, value in row.items() if value is not None}
                      for row in self.clickhouse.rows(in_clickhouse(query))]
            in_order = list if "ORDER BY" in query else functools.partial(sorted, key=str)
            self.assertEqual(len(rows), len(others), query)
            for ours, theirs in zip(in_order(rows), in_order(others)):
                self.assertEqual(list(ours), list(theirs), query)
                for key, value in ours.items():
                    self.check_value(value, theirs[key], query)
        return rows

    def check_value(self, ours, theirs, query):
        """Sums of fractions depend on their order: to 1e-12 of it, or a thousandth of a nanosecond."""
        if isinstance(ours, float):
            self.assertTrue(math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1e-3), (query, ours, theirs))
        else:
            self.assertEqual(ours, theirs, query)

    def job(self, *words):
        done = self.call("report", *words, "--as-ranks", "--json")
        self.check_code(done, 0)
        return json.loads(done.stdout)

    def recorded(self, path):
        return cli_case.REPOSITORY / path

    def check_modules(self, report, run):
        for trace in report["traces"]:
            rank = int(trace["process"]["rank"])
            rows = self.ask(self.lake, f"SELECT module, {', '.join(SUMS)} FROM modules WHERE run = '{run}' "
                            f"AND rank = {rank} AND module IS NOT NULL")
            found = {row.pop("module"): {key: value for key, value in row.items() if value} for row in rows}
            shown = {row["path"]: {key: row[key] for key in SUMS if row.get(key)} for row in trace["modules"]}
            self.assertEqual({path: found[path] for path in shown}, shown)
            self.assertGreater(len(shown), 0)

    def check_waits(self, report, run):
        keys = ("last_in", "made_wait_ns", "waited_ns", "transfer_ns")
        expected = {row["rank"]: {key: row[key] for key in keys} for row in report["rank_waits"]}
        rows = self.ask(self.lake, f"SELECT 'rank ' || rank AS rank, {', '.join(keys)} FROM stragglers "
                        f"WHERE run = '{run}'")
        self.assertEqual({row.pop("rank"): row for row in rows}, expected)
        self.assertGreater(len(expected), 1)

    def check_kernels(self, place, run, rank):
        report = self.report(place, "--section", "kernels")["kernels"]
        rows = self.ask(self.lake, "SELECT kernel, sum(kernels) AS n, sum(gpu_ns) AS ns, min(min_ns) AS least, "
                        f"max(max_ns) AS most FROM rank_kernel WHERE run = '{run}' AND rank = {rank} GROUP BY kernel")
        self.assertEqual({row["kernel"]: (row["n"], row["ns"], row["least"], row["most"]) for row in rows},
                         {row["name"]: (row["count"], row["total_ns"], row["min_ns"], row["max_ns"]) for row in report})
        heaviest = max(report, key=lambda row: row["total_ns"])["name"]
        quoted = heaviest.replace("'", "''")
        (detail,) = self.report(place, "--section", "kernel", "--kernel", heaviest.split("(")[0])["kernel"]
        for key, share in (("median_ns", 0.5), ("p95_ns", 0.95)):
            exact = self.one(self.lake, f"SELECT quantile_cont(duration_ns, {share}) AS exact FROM kernels "
                             f"WHERE run = '{run}' AND rank = {rank} AND kernel = '{quoted}'")
            self.assertLessEqual(abs(detail[key] - exact), QUANTILE_ERROR * exact, (key, detail[key], exact))

    def check_iterations(self, place, run, rank):
        keys = ("wall_ns", "gpu_ns", "kernels", "sync_ns")
        report = self.report(place, "--section", "iterations")["iterations"]
        rows = self.ask(self.lake, f"SELECT iteration, {', '.join(keys)} FROM iterations WHERE run = '{run}' "
                        f"AND rank = {rank} ORDER BY iteration")
        self.assertEqual([{key: row.get(key, 0) for key in keys} for row in rows],
                         [{key: row.get(key, 0) for key in keys} for row in report])
        self.assertGreater(len(report), 3)

    def test_two_recorded_ranks(self):
        place = self.recorded(RANKS)
        self.add(place, "two")
        report = self.job(place)
        self.check_modules(report, "two")
        self.check_waits(report, "two")

    def test_recorded_jobs_with_a_late_rank(self):
        for name in LATE:
            place = self.recorded(f"{JOBS}/{name}")
            self.add(place, name)
            report = self.job(place)
            self.check_modules(report, name)
            self.check_waits(report, name)
            late = report["stragglers"][0]
            rank = int(late["rank"].removeprefix("rank "))
            self.assertEqual(self.one(self.lake, f"SELECT rank FROM stragglers WHERE run = '{name}' "
                                      "ORDER BY made_wait_ns DESC LIMIT 1"), rank)
            cause = self.ask(self.lake, f"SELECT module, cause FROM causes WHERE run = '{name}' AND rank = {rank} "
                             "ORDER BY excess_ns DESC LIMIT 1")
            if name != "graph":  # its cause is in no range
                self.assertEqual(cause, [{"module": folded(late["module"]), "cause": late["cause"]}], name)
        for rank in (0, 1):
            place = self.recorded(f"{JOBS}/gpu/rank={rank}")
            self.check_kernels(place, "gpu", rank)
            self.check_iterations(place, "gpu", rank)

    def test_recordings_that_begin_at_different_collectives(self):
        """Rank 1 as recorded from a time on when others had done some collectives, and rank 0 until earlier."""
        for name in ("gpu", "host"):
            job = self.folder / f"shifted-{name}"
            for rank in (0, 1):
                packed = self.recorded(f"{JOBS}/{name}/rank={rank}/trace-00000.ndjson.zst")
                lines = subprocess.run(["zstd", "-dcq", packed], text=True, capture_output=True, check=True).stdout
                lines = lines.splitlines(keepends=True)
                kernels = [json.loads(line) for line in lines if line.startswith('{"t":"kernel"')]
                collectives = sorted(row["start"] for row in kernels if row["stream"] != kernels[0]["stream"])
                least, most = (0, collectives[-5]) if rank == 0 else (collectives[7], 1 << 62)
                folder = job / f"rank={rank}"
                folder.mkdir(parents=True)
                (folder / "trace-00000.ndjson").write_text("".join(
                    line for line in lines
                    if not line.startswith('{"t":"kernel"') or least <= json.loads(line)["start"] <= most))
            self.add(job, f"shifted-{name}")
            self.check_waits(self.job(job), f"shifted-{name}")

    def test_many_made_ranks(self):
        """The lines of two recorded ranks, of which the second is late, as those of 64."""
        job = self.folder / "job"
        files = [self.recorded(f"{JOBS}/gpu/rank={rank}/trace-00000.ndjson.zst") for rank in (0, 1)]
        lines = [subprocess.run(["zstd", "-dcq", file], text=True, capture_output=True, check=True)
                 .stdout.splitlines(keepends=True) for file in files]
        late = 37
        for rank in range(MADE_RANKS):
            own = lines[rank == late]
            header = json.loads(own[0])
            header |= {"rank": str(rank), "ranks": MADE_RANKS, "host": f"node{rank // 8}", "pid": 100 + rank}
            folder = job / f"host=node{rank // 8}/rank={rank}/pid=7"
            folder.mkdir(parents=True)
            text = json.dumps(header, separators=(",", ":")) + "\n" + "".join(own[1:])
            (folder / "trace-00000.ndjson").write_text(text)
        self.add(job, "many")
        report = self.job(job)
        self.check_waits(report, "many")
        self.check_modules(report, "many")
        self.assertEqual(report["stragglers"][0]["rank"], f"rank {late}")
        self.assertEqual(self.ask(self.lake, "SELECT rank, last_in FROM stragglers "
                                  "ORDER BY made_wait_ns DESC LIMIT 1")[0]["rank"], late)
        self.assertEqual(self.ask(self.lake, f"SELECT module, cause FROM causes WHERE rank = {late} "
                                  "ORDER BY excess_ns DESC LIMIT 1"),
                         [{"module": folded(report["stragglers"][0]["module"]), "cause": "gpu"}])

    def test_a_pair_of_runs(self):
        for run in ("none", "layer"):
            self.add(self.recorded(f"{JOBS}/{run}"), run)
        sums = []
        for run in ("none", "layer"):
            traces = self.job(self.recorded(f"{JOBS}/{run}"))["traces"]
            rows = [{row["path"]: row["gpu_ns"] for row in trace["modules"]} for trace in traces]
            sums.append({path: sum(row.get(path, 0) for row in rows) / sum(path in row for row in rows)
                         for row in rows for path in row})
        rows = self.ask(self.lake, "FROM regressions('none', 'layer')")
        shown = {row["module"]: row for row in rows}
        for path in set(sums[0]) & set(sums[1]):
            self.assertEqual((shown[path]["gpu_ns_a"], shown[path]["gpu_ns_b"]), (sums[0][path], sums[1][path]), path)
        self.assertTrue(any(re.fullmatch(r".*layers/2/attention", row["module"]) for row in rows[:8]), rows[:8])
        self.assertEqual([row["more_gpu_ns"] for row in rows], sorted((row["more_gpu_ns"] for row in rows), reverse=True))

    def test_views_have_the_same_rows_in_every_engine(self):
        for name in ("none", "gpu", "layer", "copies", "loader"):
            self.add(self.recorded(f"{JOBS}/{name}"), name)
            self.add(self.recorded(f"{JOBS}/{name}"), "even")
            self.add(self.recorded(f"{JOBS}/{name}/rank=0"), "odd")
        for view, keys in VIEWS.items():
            columns = [row["column_name"] for row in Lake.ask(self, self.lake, f"DESCRIBE FROM {view}")]
            rows = self.ask(self.lake, f"SELECT {', '.join(columns)} FROM {view} ORDER BY {keys}")
            self.assertGreater(len(rows), 1, view)

    def test_an_iteration_that_takes_longer_is_slow(self):
        self.add(self.recorded(f"{JOBS}/none"), "none")
        rows = self.ask(self.lake, "SELECT rank, iteration, wall_ns, median_ns FROM slow_iterations")
        walls = self.ask(self.lake, "SELECT rank, iteration, wall_ns FROM iterations WHERE counts")
        for rank in (0, 1):
            own = sorted(row["wall_ns"] for row in walls if row["rank"] == rank)
            middle = (own[(len(own) - 1) // 2] + own[len(own) // 2]) / 2
            expected = {row["iteration"] for row in walls if row["rank"] == rank and row["wall_ns"] > 1.2 * middle}
            self.assertEqual({row["iteration"] for row in rows if row["rank"] == rank}, expected)

    def test_the_page_shows_what_the_queries_print(self):
        """docs/exports-and-lake.md: `none` is sunday, `layer` is monday."""
        for run, job in (("sunday", "none"), ("monday", "layer")):
            self.add(self.recorded(f"{JOBS}/{job}"), run)
        shown = [(command, lines) for command, lines in examples_test.shown(self.recorded("docs/exports-and-lake.md"))
                 if command[1] == "sql"]
        self.assertGreater(len(shown), 2)
        for command, expected in shown:
            done = self.call(*(self.lake if word == "lake" else word for word in command[1:]))
            self.check_code(done, 0)
            self.assertEqual([line.rstrip() for line in done.stdout.splitlines()], expected, command)

    @classmethod
    def setUpClass(cls):
        if shutil.which("zstd") is None:
            raise cls.skipTest(cls, "there is no zstd program")


if __name__ == "__main__":
    lake_case.main(__doc__)
