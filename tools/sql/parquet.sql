-- SPDX-License-Identifier: Apache-2.0
--
-- The views of views.sql as Parquet files in parquet/ below DuckDB's working directory (create it first: DuckDB
-- does not), one folder per table, partitioned by run, host, process and start of the recording:
--
--   parquet/kernels/run=7/host=node7/pid=4711/base_unix_ns=1700000000000000000/data_0.parquet
--   SELECT * FROM read_parquet('parquet/kernels/**/*.parquet', hive_partitioning = true);
--
-- A host and a process id are not enough: in containers every process has a small id, and each window of a process
-- is a trace. Files of the same trace are replaced, others stay: you can add runs one by one. `run` is 'none'
-- outside of folders with a run=.

CREATE OR REPLACE VIEW parquet_traces AS SELECT * REPLACE (coalesce(nullif(run, ''), 'none') AS run) FROM traces;

COPY (SELECT * FROM parquet_traces)
TO 'parquet/traces' (FORMAT parquet, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, k.* FROM kernels k JOIN parquet_traces t USING (trace))
TO 'parquet/kernels'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, m.* FROM memcpys m JOIN parquet_traces t USING (trace))
TO 'parquet/memcpys'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, l.* FROM launches l JOIN parquet_traces t USING (trace))
TO 'parquet/launches'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, e.* FROM exact e JOIN parquet_traces t USING (trace))
TO 'parquet/exact'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, r.* FROM ranges r JOIN parquet_traces t USING (trace))
TO 'parquet/ranges'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
COPY (SELECT t.run, t.host, t.pid, t.base_unix_ns, t.rank, m.* FROM modules m JOIN parquet_traces t USING (trace))
TO 'parquet/modules'
  (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (run, host, pid, base_unix_ns), OVERWRITE_OR_IGNORE);
