-- SPDX-License-Identifier: Apache-2.0
--
-- The views of views.sql as Parquet files in parquet/ below DuckDB's working directory (create it first: DuckDB
-- does not), one folder per table, partitioned by host and process:
--
--   parquet/kernels/host=node7/pid=4711/data_0.parquet
--   SELECT * FROM read_parquet('parquet/kernels/**/*.parquet', hive_partitioning = true);
--
-- Files of the same process are replaced, others stay: you can add runs one by one.

COPY (SELECT * FROM traces)
TO 'parquet/traces' (FORMAT parquet, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, k.* FROM kernels k JOIN traces t USING (trace))
TO 'parquet/kernels' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, m.* FROM memcpys m JOIN traces t USING (trace))
TO 'parquet/memcpys' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, l.* FROM launches l JOIN traces t USING (trace))
TO 'parquet/launches' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, e.* FROM exact e JOIN traces t USING (trace))
TO 'parquet/exact' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, r.* FROM ranges r JOIN traces t USING (trace))
TO 'parquet/ranges' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
COPY (SELECT t.host, t.pid, t.rank, m.* FROM modules m JOIN traces t USING (trace))
TO 'parquet/modules' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (host, pid), OVERWRITE_OR_IGNORE);
