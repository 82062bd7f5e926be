-- SPDX-License-Identifier: Apache-2.0
--
-- Traces as views for DuckDB (tested with 1.5). Read-only; nothing is copied.
--
--   SET VARIABLE traces = 'out/**/trace-*.ndjson*';      -- one trace or thousands, plain or .zst
--   .read tools/sql/views.sql
--   SELECT module, kernels, gpu_ns FROM modules ORDER BY gpu_ns DESC LIMIT 10;
--
-- `trace` is the folder of a process. Every segment of a trace repeats the names that its lines use, so the views
-- take each name once per trace. Times are nanoseconds relative to traces.base_unix_ns. A half-written line of a
-- killed program is skipped. A value that was not measured is NULL.
--
-- Each query reads the files again: for many queries create tables from the views, or Parquet files (parquet.sql).

CREATE OR REPLACE VIEW lines AS
SELECT regexp_replace(filename, '/[^/]*$', '') AS trace, json ->> '$.t' AS t, json
FROM read_ndjson_objects(getvariable('traces'), filename = true, ignore_errors = true, hive_partitioning = false,
                         maximum_object_size = 67108864)
WHERE json IS NOT NULL;

CREATE OR REPLACE VIEW traces AS
SELECT trace, regexp_extract(trace, '(?:^|/)run=([^/]*)', 1) AS run, h.host, h.rank, h.pid, h.executable, h.command,
       CAST(h.base_unix_ns AS BIGINT) AS base_unix_ns, h.counters, h.counters_reason, h.tool_version,
       h.driver_version, h.driver_release, h.cupti_version
FROM (SELECT DISTINCT ON (trace) trace, json_transform(json,
        '{"segment":"UINTEGER","host":"VARCHAR","rank":"VARCHAR","pid":"BIGINT","executable":"VARCHAR",
          "command":["VARCHAR"],"base_unix_ns":"VARCHAR","counters":"VARCHAR","counters_reason":"VARCHAR",
          "tool_version":"VARCHAR","driver_version":"INTEGER","driver_release":"VARCHAR",
          "cupti_version":"INTEGER"}') AS h
      FROM lines WHERE t = 'header' ORDER BY trace, CAST(json ->> '$.segment' AS UINTEGER));

CREATE OR REPLACE VIEW gpus AS
SELECT DISTINCT ON (trace, g.id) trace, g.id AS gpu, g.name, g.uuid, g.sm_count, g.memory_bytes, g.l2_bytes,
       g.peak_dram_bytes_per_s
FROM (SELECT trace, json_transform(json,
  '{"id":"UINTEGER","name":"VARCHAR","uuid":"VARCHAR","sm_count":"UINTEGER","memory_bytes":"UBIGINT","l2_bytes":"UBIGINT",
    "peak_dram_bytes_per_s":"UBIGINT"}') AS g
      FROM lines WHERE t = 'gpu');

-- One row per path. `module` is the full path: names joined by '/'; a '/' inside a name is escaped by '\'.
-- `class_source` and `call_source` of a PyTorch module are files and lines: "/app/model.py:214".
CREATE OR REPLACE VIEW paths AS
WITH RECURSIVE named AS (
  SELECT DISTINCT ON (trace, path) trace, CAST(json ->> '$.id' AS UINTEGER) AS path,
         CAST(json ->> '$.parent' AS UINTEGER) AS parent, json ->> '$.name' AS name
  FROM lines WHERE t = 'path'),
escaped AS (SELECT *, replace(replace(name, '\', '\\'), '/', '\/') AS step FROM named),
tree AS (
  SELECT trace, path, parent, name, step AS module, 1 AS depth, [path] AS above FROM escaped WHERE parent = 0
  UNION ALL
  SELECT e.trace, e.path, e.parent, e.name, tree.module || '/' || e.step, tree.depth + 1,
         list_append(tree.above, e.path)
  FROM escaped e JOIN tree ON tree.trace = e.trace AND tree.path = e.parent),
sources AS (  -- the last one counts
  SELECT DISTINCT ON (trace, path) trace, CAST(json ->> '$.path' AS UINTEGER) AS path,
         (json ->> '$.class_file') || ':' || (json ->> '$.class_line') AS class_source,
         (json ->> '$.call_file') || ':' || (json ->> '$.call_line') AS call_source
  FROM (SELECT *, row_number() OVER () AS nth FROM lines WHERE t = 'module_source') ORDER BY trace, path, nth DESC)
SELECT trace, path, parent, name, module, depth, above, class_source, call_source
FROM tree LEFT JOIN sources USING (trace, path);

CREATE OR REPLACE VIEW kernel_names AS
SELECT DISTINCT ON (trace, x.id) trace, x.*
FROM (SELECT trace, json_transform(json,
  '{"id":"UINTEGER","mangled":"VARCHAR","demangled":"VARCHAR","library":"VARCHAR"}') AS x
      FROM lines WHERE t = 'kernel_name');

CREATE OR REPLACE VIEW launch_configs AS
SELECT DISTINCT ON (trace, x.id) trace, x.*
FROM (SELECT trace, json_transform(json,
  '{"id":"UINTEGER","grid":["UINTEGER"],"block":["UINTEGER"],"cluster":["UINTEGER"],"registers":"UINTEGER",
    "static_shared_bytes":"UINTEGER","dynamic_shared_bytes":"UINTEGER","shared_bytes_executed":"UINTEGER",
    "local_bytes_per_thread":"UINTEGER"}') AS x
      FROM lines WHERE t = 'config');

CREATE OR REPLACE VIEW kernels AS
SELECT l.trace, l.k.start AS start_ns, l.k."end" AS end_ns, l.k."end" - l.k.start AS duration_ns, l.k.gpu,
       l.k.ctx AS context, l.k.stream, l.k.corr AS correlation, coalesce(l.k.path, 0) AS path, p.module,
       l.k.range AS range_id, l.k.graph,
       CASE WHEN l.k.node <= 4294967295 THEN l.k.graph * 4294967296::UBIGINT + l.k.node ELSE l.k.node END AS graph_node, coalesce(l.k.captured, false) AS captured,
       n.demangled AS kernel, n."library", c.grid, c.block, coalesce(c.registers, 0) AS registers_per_thread,
       coalesce(c.static_shared_bytes, 0) AS static_shared_bytes,
       coalesce(c.dynamic_shared_bytes, 0) AS dynamic_shared_bytes
FROM (SELECT trace, json_transform(json,
        '{"start":"BIGINT","end":"BIGINT","gpu":"UINTEGER","ctx":"UINTEGER","stream":"UINTEGER","corr":"UINTEGER",
          "path":"UINTEGER","range":"UBIGINT","graph":"UINTEGER","node":"UBIGINT","captured":"BOOLEAN",
          "name":"UINTEGER","config":"UINTEGER"}') AS k
      FROM lines WHERE t = 'kernel') l
LEFT JOIN kernel_names n ON n.trace = l.trace AND n.id = l.k.name
LEFT JOIN launch_configs c ON c.trace = l.trace AND c.id = l.k.config
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.k.path;

CREATE OR REPLACE VIEW memcpys AS
SELECT l.trace, m.start AS start_ns, m."end" AS end_ns, m."end" - m.start AS duration_ns, m.gpu, m.ctx AS context,
       m.stream, m.corr AS correlation, coalesce(m.path, 0) AS path, p.module, m.range AS range_id,
       m.kind AS direction, m.src AS source, m.dst AS destination, m.bytes, coalesce(m.async, false) AS async,
       coalesce(m.count, 1) AS copies
FROM (SELECT trace, json_transform(json,
        '{"start":"BIGINT","end":"BIGINT","gpu":"UINTEGER","ctx":"UINTEGER","stream":"UINTEGER","corr":"UINTEGER",
          "path":"UINTEGER","range":"UBIGINT","kind":"VARCHAR","src":"VARCHAR","dst":"VARCHAR","bytes":"UBIGINT",
          "async":"BOOLEAN","count":"UBIGINT"}') AS m
      FROM lines WHERE t = 'memcpy') l
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.m.path;

CREATE OR REPLACE VIEW memsets AS
SELECT l.trace, m.start AS start_ns, m."end" AS end_ns, m."end" - m.start AS duration_ns, m.gpu, m.ctx AS context,
       m.stream, m.corr AS correlation, coalesce(m.path, 0) AS path, p.module, m.range AS range_id, m.memory, m.bytes
FROM (SELECT trace, json_transform(json,
        '{"start":"BIGINT","end":"BIGINT","gpu":"UINTEGER","ctx":"UINTEGER","stream":"UINTEGER","corr":"UINTEGER",
          "path":"UINTEGER","range":"UBIGINT","memory":"VARCHAR","bytes":"UBIGINT"}') AS m
      FROM lines WHERE t = 'memset') l
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.m.path;

-- Host calls that launch GPU work; those in exact windows have their counters in `exact`.
CREATE OR REPLACE VIEW launches AS
SELECT l.trace, h.start AS start_ns, h."end" AS end_ns, h."end" - h.start AS duration_ns, h.thread, h.api,
       h.corr AS correlation, coalesce(h.path, 0) AS path, p.module, h.range AS range_id,
       coalesce(h.result, 0) AS result, l.t = 'exact' AS exact
FROM (SELECT trace, t, json_transform(json,
        '{"start":"BIGINT","end":"BIGINT","thread":"UINTEGER","api":"VARCHAR","corr":"UINTEGER","path":"UINTEGER",
          "range":"UBIGINT","result":"INTEGER"}') AS h
      FROM lines WHERE t = 'launch' OR (t = 'exact' AND (json ->> '$.kind') <> 'range')) l
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.h.path;

-- Bytes from hardware counters, of one launch or (kind range) of all launches in a counter range.
CREATE OR REPLACE VIEW exact AS
SELECT l.trace, e.kind, e.corr AS correlation, coalesce(e.counter_range, e.shared_range) AS counter_range, e.gpu,
       coalesce(e.path, 0) AS path, p.module, e.range AS range_id, e.launches, e.kernels, e.gpu_ns,
       e.dram_read_bytes, e.dram_write_bytes, e.l2_bytes, e.unmeasured
FROM (SELECT trace, json_transform(json,
        '{"kind":"VARCHAR","corr":"UINTEGER","counter_range":"UBIGINT","shared_range":"UBIGINT","gpu":"UINTEGER",
          "path":"UINTEGER","range":"UBIGINT","launches":"UINTEGER","kernels":"UINTEGER","gpu_ns":"UBIGINT",
          "dram_read_bytes":"UBIGINT","dram_write_bytes":"UBIGINT","l2_bytes":"UBIGINT",
          "unmeasured":"VARCHAR"}') AS e
      FROM lines WHERE t = 'exact') l
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.e.path;

CREATE OR REPLACE VIEW ranges AS
SELECT l.trace, r.id AS range_id, r.start AS start_ns, r."end" AS end_ns, r."end" - r.start AS duration_ns, r.thread,
       coalesce(r.path, 0) AS path, p.module, coalesce(s.text, p.name) AS name, r.name IS NOT NULL AS is_start_end
FROM (SELECT trace, json_transform(json,
        '{"id":"UBIGINT","start":"BIGINT","end":"BIGINT","thread":"UINTEGER","path":"UINTEGER",
          "name":"UINTEGER"}') AS r
      FROM lines WHERE t = 'range') l
LEFT JOIN paths p ON p.trace = l.trace AND p.path = l.r.path
LEFT JOIN (SELECT DISTINCT ON (trace, id) trace, CAST(json ->> '$.id' AS UINTEGER) AS id, json ->> '$.text' AS text
           FROM lines WHERE t = 'name') s ON s.trace = l.trace AND s.id = l.r.name;

CREATE OR REPLACE VIEW syncs AS
SELECT trace, unnest(json_transform(json,
  '{"start":"BIGINT","end":"BIGINT","thread":"UINTEGER","path":"UINTEGER","range":"UBIGINT","api":"VARCHAR",
    "ctx":"UINTEGER","stream":"UINTEGER","event":"VARCHAR"}'))
FROM lines WHERE t = 'sync';

-- Inclusive totals of each module: a kernel counts once in its path and in each ancestor.
CREATE OR REPLACE VIEW modules AS
WITH work AS (
  SELECT trace, path, count(*) AS kernels, sum(duration_ns) AS gpu_ns FROM kernels WHERE path <> 0 GROUP BY ALL),
bytes AS (
  SELECT trace, path, sum(dram_read_bytes) AS dram_read_bytes, sum(dram_write_bytes) AS dram_write_bytes,
         sum(l2_bytes) AS l2_bytes, count(l2_bytes) AS measured FROM exact WHERE path <> 0 GROUP BY ALL),
calls AS (
  SELECT trace, path, count(*) AS calls, sum(duration_ns) AS host_ns FROM ranges WHERE NOT is_start_end GROUP BY ALL),
own AS (
  SELECT p.trace, p.path, p.above, work.kernels, work.gpu_ns, bytes.dram_read_bytes, bytes.dram_write_bytes,
         bytes.l2_bytes, bytes.measured
  FROM paths p LEFT JOIN work USING (trace, path) LEFT JOIN bytes USING (trace, path)),
inclusive AS (
  SELECT trace, unnest(above) AS path, kernels, gpu_ns, dram_read_bytes, dram_write_bytes, l2_bytes, measured
  FROM own)
SELECT i.trace, i.path, p.module, p.depth, max(calls.calls) AS calls, max(calls.host_ns) AS host_ns,
       coalesce(sum(i.kernels), 0) AS kernels, sum(i.gpu_ns) AS gpu_ns,
       CASE WHEN max(o.kernels) IS NULL THEN 0 ELSE max(o.gpu_ns) END AS gpu_ns_exclusive,
       sum(i.dram_read_bytes) AS dram_read_bytes, sum(i.dram_write_bytes) AS dram_write_bytes,
       sum(i.l2_bytes) AS l2_bytes, coalesce(sum(i.measured), 0) AS measured_launches,
       p.class_source, p.call_source
FROM inclusive i JOIN own o USING (trace, path) JOIN paths p USING (trace, path) LEFT JOIN calls USING (trace, path)
GROUP BY i.trace, i.path, p.module, p.depth, p.class_source, p.call_source;

-- Events that are not in the trace, by cause: from the end line, otherwise from the last heartbeat.
CREATE OR REPLACE VIEW loss AS
SELECT trace, cause, CAST(json ->> ('$.loss.' || cause) AS UBIGINT) AS count
FROM (SELECT trace, json, unnest(json_keys(json, '$.loss')) AS cause
      FROM (SELECT DISTINCT ON (trace) trace, json FROM lines WHERE t IN ('end', 'flush')
            ORDER BY trace, t, CAST(json ->> '$.at' AS BIGINT) DESC)
      WHERE json_type(json, '$.loss') = 'OBJECT');
