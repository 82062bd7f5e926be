# SPDX-License-Identifier: Apache-2.0
"""rangefinder lake: what is in a lake, whatever happens while it is written.

    lake_test.py PATH_OF_RANGEFINDER REPOSITORY PATH_OF_RANGEFINDER_REPLAY WORK

WORK: a folder for what npm installs. Exit code 77, with the reason: there is no node or npm, or npm reaches no
registry.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess

import lake_case  # puts the folder above on the path: first
import cli_case
from export_case import RECORDINGS, kernel_ns, lines_of, of_kind, recorded
from lake_case import Lake

TABLES = ("processes", "kernels", "launches", "copies", "memsets", "ranges", "exact", "samples", "syncs", "holds", "loss",
          "conditions", "stacks", "rank_module", "rank_kernel", "collectives", "iterations", "findings")
KILLS = 50
# One row a table: the number of rows and a sum of their hashes, whatever their order.
ALL_ROWS = " UNION ALL ".join(f"SELECT '{table}' AS name, count(*) AS n, coalesce(sum(hash(t)::HUGEINT), 0)::VARCHAR AS "
                              f"hashes FROM {table} t" for table in TABLES)


class LakeVerb(Lake):
    def setUp(self):
        super().setUp()
        self.lake = self.folder / "lake"

    def add(self, *places, code=0, options=()):
        done = self.call("lake", "add", *places, "--out", self.lake, *options)
        self.check_code(done, code)
        return done

    def runs(self):
        done = self.call("lake", "list", self.lake, "--json")
        self.check_code(done, 0)
        return {row["run"]: row for row in json.loads(done.stdout)}

    def recorded_job(self, *names, run="one"):
        """Recordings as the processes of a run, in the folders of ranks."""
        for rank, name in enumerate(names):
            folder = self.folder / f"out/run={run}/host=node{rank}/rank={rank}/pid={100 + rank}"
            folder.parent.mkdir(parents=True)
            shutil.copytree(recorded(name), folder)
        return self.folder / f"out/run={run}"

    def rank(self, place, rank=0, kernels=1, **header):
        """A small trace of a rank."""
        lines = [{**cli_case.HEADER, "rank": str(rank), **header}, *cli_case.TRACE[1:]]
        lines += [{**cli_case.TRACE[6], "start": 2000 + 10 * i, "end": 2005 + 10 * i} for i in range(1, kernels)]
        (self.folder / place).parent.mkdir(parents=True, exist_ok=True)
        return self.make_trace(lines, place)

    def rows(self, lake=None):
        return {row["name"]: (row["n"], row["hashes"]) for row in self.ask(lake or self.lake, ALL_ROWS)}

    def files(self):
        return sorted(path for path in self.lake.rglob("*.parquet"))

    def test_a_lake_has_the_rows_of_its_traces(self):
        job = self.recorded_job(*RECORDINGS)
        self.add(job)
        tables = {"kernel": "kernels", "launch": "launches", "memcpy": "copies", "memset": "memsets",
                  "range": "ranges", "exact": "exact", "sync": "syncs", "hold": "holds"}
        lines = [line for name in RECORDINGS for line in lines_of(recorded(name))]
        for kind, table in tables.items():
            self.assertEqual(self.one(self.lake, f"SELECT count(*) FROM {table}"), len(of_kind(lines, kind)), table)
        self.assertEqual(self.one(self.lake, "SELECT sum(duration_ns) FROM kernels"), kernel_ns(lines))
        query = "SELECT * EXCLUDE (run, process, trace) FROM processes ORDER BY start_unix_ns"
        in_lake, in_memory = (self.ask(place, query) for place in (self.lake, job))
        self.assertEqual(in_lake, in_memory)
        self.assertEqual(len(in_lake), len(RECORDINGS))

    def test_files_are_sorted_compressed_and_few(self):
        self.add(self.recorded_job(*RECORDINGS))
        (kernels,) = (self.lake / "v1/kernels/run=one").iterdir()
        self.assertEqual(self.ask(self.lake, f"SELECT DISTINCT compression FROM parquet_metadata('{kernels}')"),
                         [{"compression": "ZSTD"}])
        order = "rank, process, gpu, stream, start_ns"
        rows = self.ask(self.lake, f"SELECT {order} FROM read_parquet('{kernels}')")
        self.assertEqual(len(rows), self.one(self.lake, "SELECT count(*) FROM kernels"))
        ordered = sorted(rows, key=lambda row: [row.get(key, -1) for key in order.split(", ")])
        self.assertTrue(rows == ordered)  # assertEqual would print 20,000 rows

    def test_a_trace_is_added_once(self):
        job = self.recorded_job("copy_storm", "nvtx_shapes")
        self.add(job)
        before, files = self.rows(), self.files()
        self.assertIn("2 already there", self.add(job).stdout)
        self.assertEqual((self.rows(), self.files()), (before, files))

    def test_a_trace_that_has_grown_replaces_its_rows(self):
        first, second = self.rank("out/run=r/a"), self.rank("out/run=r/b", rank=1, pid=1)
        self.add(first, second)
        with open(first / "trace-00000.ndjson", "a", encoding="utf-8") as file:
            file.write(json.dumps({**cli_case.TRACE[6], "start": 5000, "end": 5500}) + "\n")
        self.assertIn("1 replaced", self.add(self.folder / "out").stdout)
        self.assertEqual(self.ask(self.lake, "SELECT rank, count(*) AS n FROM kernels GROUP BY rank ORDER BY rank"),
                         [{"rank": 0, "n": 2}, {"rank": 1, "n": 1}])
        self.assertEqual(self.one(self.lake, "SELECT count(*) FROM processes"), 2)
        self.check_code(self.call("lake", "compact", self.lake), 0)
        self.assertEqual(self.one(self.lake, "SELECT count(*) FROM kernels"), 3)
        self.assertEqual(len(list((self.lake / "v1/kernels/run=r").iterdir())), 1)

    def test_one_process_id_on_every_host_and_one_run_name_twice(self):
        for host in range(8):
            self.rank(f"monday/run=train/host=n{host}/rank={host}/pid=7", rank=host, pid=7, host=f"n{host}")
            self.rank(f"tuesday/run=train/host=n{host}/rank={host}/pid=7", rank=host, pid=7, host=f"n{host}",
                      base_unix_ns="1700000900000000000", base_monotonic_ns="900000000005")
        self.assertEqual(self.add(self.folder / "monday").stderr, "")
        done = self.add(self.folder / "tuesday")
        self.assertIn("run train has rank 0 2 times: all are kept", done.stderr)
        self.assertEqual(self.one(self.lake, "SELECT count(*) FROM kernels"), 16)
        self.assertEqual(self.one(self.lake, "SELECT count(DISTINCT process) FROM kernels"), 16)
        self.assertEqual(self.ask(self.lake, "SELECT count(*) AS n, count(DISTINCT boot_unix_ns) AS boots FROM processes"),
                         [{"n": 16, "boots": 1}])
        self.add(self.folder / "tuesday", options=("--run", "second"))
        self.assertEqual({name: row["processes"] for name, row in self.runs().items()}, {"train": 16, "second": 8})

    def test_names_of_runs(self):
        trace = self.rank("one")
        names = ["team/7", "a b", "50%", "run=x", "é", "'; DROP TABLE kernels; --", "...", "a" * 128, "-"]
        for name in names:
            self.add(trace, options=(f"--run={name}",))
        self.assertEqual(sorted(self.runs()), sorted(names))
        self.assertEqual([row["run"] for row in self.ask(self.lake, "SELECT run FROM kernels ORDER BY run")],
                         sorted(names, key=lambda name: name.encode()))
        self.assertTrue((self.lake / "v1/kernels/run=team%2F7").is_dir())
        for name in (".", "..", "a" * 129):
            self.assertIn("run name", self.add(trace, code=2, options=(f"--run={name}",)).stderr)
        self.assertEqual(len(self.runs()), len(names))
        self.add(trace)
        self.assertIn("one", self.runs())

    def test_the_folders_above_a_lake_have_any_name(self):
        trace = self.rank("one")
        for place in ("run=outer/host=z/lake", "la[k]e *?'q", "spa ce/é"):
            self.lake = self.folder / place
            self.add(trace, options=("--run", "a%b"))
            self.assertEqual(self.ask(self.lake, "SELECT DISTINCT run FROM kernels WHERE run = 'a%b'"), [{"run": "a%b"}])
            columns = [row["column_name"] for row in self.ask(self.lake, "DESCRIBE kernels")]
            self.assertEqual((columns.count("run"), columns.count("host"), columns.count("filename")), (1, 0, 0))

    def test_killed_at_any_time_and_resumed_it_has_the_same_rows(self):
        job = self.recorded_job("copy_storm", "nvtx_shapes", "multi_stream_ranges", "hf_rtdetr_trace")
        for rank in range(4, 30):
            self.rank(f"out/run=one/host=n/rank={rank}/pid={rank}", rank=rank, pid=rank, kernels=200)
        self.add(job, options=("--jobs", 2))
        expected = self.rows()
        seconds = self.seconds_of_an_add(job)
        self.lake = self.folder / "killed"
        rng = random.Random(55)
        ended = 0
        for _ in range(KILLS):
            ended += self.run_and_kill(("add", job, "--out", self.lake), rng.uniform(0, 1.2 * seconds))
            if rng.random() < 0.2:
                shutil.rmtree(self.lake, ignore_errors=True)
        self.assertLess(ended, KILLS)
        self.add(job, options=("--jobs", 2))
        self.assertEqual(self.rows(), expected)
        self.check_code(self.call("lake", "compact", self.lake), 0)
        self.assertEqual(self.rows(), expected)
        self.assertEqual(list((self.lake / "v1/staging").iterdir()), [])

    def test_a_killed_compaction_changes_no_row(self):
        for rank in range(12):
            self.add(self.rank(f"out/run=a/{rank}", rank=rank, pid=rank, kernels=50))
        before = self.rows()
        rng = random.Random(56)
        for _ in range(15):
            self.run_and_kill(("compact", self.lake), rng.uniform(0, 0.3))
            self.assertEqual(self.rows(), before)
        self.check_code(self.call("lake", "compact", self.lake), 0)
        self.assertEqual(self.rows(), before)
        self.assertEqual(len(self.files()), len([name for name, (n, _) in before.items() if n]))

    def seconds_of_an_add(self, job):
        before = os.times().elapsed
        done = self.call("lake", "add", job, "--out", self.folder / "timed")
        self.check_code(done, 0)
        return os.times().elapsed - before

    def run_and_kill(self, words, seconds):
        """Whether it had ended by itself."""
        environment = cli_case.clean_environment(RANGEFINDER_DUCKDB=lake_case.duckdb_library())
        with subprocess.Popen([cli_case.RANGEFINDER, "lake", *map(str, words)], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(seconds)
            child.send_signal(signal.SIGKILL)
            child.wait()
            return child.returncode == 0

    def test_two_adds_at_once(self):
        jobs = [self.recorded_job("copy_storm", "nvtx_shapes", run=run) for run in ("a", "b")]
        both = self.folder / "out"
        environment = cli_case.clean_environment(RANGEFINDER_DUCKDB=lake_case.duckdb_library())
        for places in ((both, both), jobs):
            shutil.rmtree(self.lake, ignore_errors=True)
            children = [subprocess.Popen([cli_case.RANGEFINDER, "lake", "add", place, "--out", self.lake], env=environment,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for place in places]
            for child in children:
                said = child.communicate(timeout=120)[1]
                self.assertEqual(child.returncode, 0, said)
            rows = self.rows()
            shutil.rmtree(self.lake)
            self.add(both)
            self.assertEqual(rows, self.rows())

    def test_runs_are_listed_and_removed(self):
        self.add(self.rank("out/run=a/x"), self.rank("out/run=b/x"))
        self.assertEqual(sorted(self.runs()), ["a", "b"])
        self.assertIn("run  ", self.call("lake", "list", self.lake).stdout)
        self.check_code(self.call("lake", "remove", self.lake, "--run", "c"), 3)
        done = self.call("lake", "remove", self.lake, "--run", "a")
        self.assertIn("1 run with 1 process removed", done.stdout)
        self.assertEqual(sorted(self.runs()), ["b"])
        self.assertEqual([path for path in self.files() if "run=a" in str(path)], [])
        self.assertEqual(self.one(self.lake, "SELECT count(*) FROM kernels"), 1)

    def test_old_runs_expire(self):
        now = int(pathlib.Path("/proc/stat").read_text(encoding="ascii").split("btime ")[1].split()[0])
        self.add(self.rank("out/run=old/x"), self.rank("out/run=new/x", base_unix_ns=f"{now}000000000"))
        for wrong in ("30", "30x", "d", "-1d"):
            self.check_code(self.call("lake", "expire", self.lake, f"--older={wrong}"), 2)
        self.check_code(self.call("lake", "expire", self.lake, "--older", "99999d"), 0)
        self.assertEqual(sorted(self.runs()), ["new", "old"])
        self.assertIn("1 run with 1 process", self.call("lake", "expire", self.lake, "--older", "365d").stdout)
        self.assertEqual(sorted(self.runs()), ["new"])

    def test_small_parts_are_joined(self):
        for rank in range(12):
            self.add(self.rank(f"out/run=a/{rank}", rank=rank, pid=rank))
        before = self.rows()
        self.assertEqual(len(list((self.lake / "v1/kernels/run=a").iterdir())), 12)
        self.assertIn("12 parts before, 1 now", self.call("lake", "compact", self.lake).stdout)
        self.assertEqual(len(list((self.lake / "v1/kernels/run=a").iterdir())), 1)
        self.assertEqual(self.rows(), before)
        self.assertIn("1 part before, 1 now", self.call("lake", "compact", self.lake).stdout)

    def test_nobody_removes_what_another_reads(self):
        self.add(self.rank("out/run=a/x"))
        with open(self.lake / "v1/lock", "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            for verb in (("remove", self.lake, "--run", "a"), ("compact", self.lake),
                         ("expire", self.lake, "--older", "1d")):
                done = self.call("lake", *verb)
                self.check_code(done, 3)
                self.assertIn("is in use", done.stderr)
            self.add(self.rank("out/run=b/x"))
            self.assertEqual(self.one(self.lake, "SELECT count(*) FROM kernels"), 2)
        self.check_code(self.call("lake", "remove", self.lake, "--run", "a"), 0)

    def test_an_unreadable_trace_does_not_stop_the_others(self):
        good, bad = self.rank("out/run=a/good"), self.folder / "out/run=a/bad"
        bad.mkdir()
        (bad / "trace-00000.ndjson").write_text("no trace\n")
        done = self.add(self.folder / "out", code=3)
        self.assertIn("1 process added, 1 unreadable", done.stdout)
        self.assertIn(str(bad), done.stderr)
        self.assertEqual(self.ask(self.lake, "SELECT trace FROM processes"), [{"trace": str(good.resolve())}])

    def test_a_query_reads_the_lake_and_nothing_else(self):
        self.add(self.rank("out/run=a/x"))
        inside = self.lake / "v1/kernels/written.parquet"
        outside = self.folder / "other.csv"
        outside.write_text("a\n1\n")
        for query in (f"COPY kernels TO '{inside}'", f"ATTACH '{self.lake}/v1/a.db' AS a",
                      f"COPY (SELECT 1) TO '{outside}'", f"EXPLAIN ANALYZE COPY kernels TO '{inside}'",
                      f"SELECT 1; COPY kernels TO '{inside}'",
                      "SET allowed_directories = ['/']", "RESET enable_external_access",
                      f"SELECT * FROM '{outside}'", f"SELECT * FROM read_text('{self.lake}/../other.csv')",
                      "SELECT * FROM read_text('/etc/passwd')", f"SELECT * FROM glob('{self.folder}/*')"):
            self.refused(self.lake, query)
        self.assertEqual(sorted(path.suffix for path in self.lake.rglob("*.*")),
                         sorted([".parquet"] * len(self.files()) + [".json"]))
        self.assertEqual(outside.read_text(), "a\n1\n")

    def test_wrong_use(self):
        trace = self.rank("one")
        for words in (("add", trace), ("list", trace, trace), ("remove", trace), ("expire", trace), ("drop", trace),
                      ()):
            self.check_code(self.call("lake", *words), 2)
        self.check_code(self.call("lake", "list", trace), 3)
        done = self.call("lake", "add", trace, "--out", self.lake, RANGEFINDER_DUCKDB="/nowhere.so")
        self.check_code(done, 3)
        self.assertIn("tools/setup --lake", done.stderr)
        self.assertFalse(self.lake.exists())


if __name__ == "__main__":
    lake_case.main(__doc__)
