-- SPDX-License-Identifier: Apache-2.0
--
-- The views of `rangefinder sql` (docs/exports-and-lake.md), with the same names, columns and values. After schema.sql, or
-- after cluster.sql:
--
--   clickhouse-client --database rangefinder < views.sql
--
-- Where a rank's rows are on one shard and those of the others elsewhere, the JOIN is GLOBAL; on one server that
-- changes nothing.

CREATE OR REPLACE VIEW modules AS SELECT * FROM rank_module;

CREATE OR REPLACE VIEW waits AS
WITH lanes AS (
  SELECT run, process, rank, host, nth, operation, duration_ns, ifNull(communicator, 0) AS comm,
         if(communicator IS NULL, stream, 0) AS lane
  FROM collectives WHERE needs_all),
matched AS (
  SELECT run, comm, lane, nth, operation, min(duration_ns) AS transfer_ns, max(duration_ns) AS longest_ns,
         count() AS ranks, sum(duration_ns) AS all_ns, argMin(process, (duration_ns, ifNull(rank, 0))) AS last_process
  FROM lanes GROUP BY run, comm, lane, nth, operation HAVING ranks > 1)
SELECT l.run AS run, l.process AS process, l.rank AS rank, l.host AS host, l.duration_ns - m.transfer_ns AS waited_ns,
       m.transfer_ns AS transfer_ns, m.last_process = l.process AND m.longest_ns > m.transfer_ns AS came_last,
       if(m.last_process = l.process, m.all_ns - m.ranks * m.transfer_ns, 0) AS made_wait_ns
FROM lanes AS l GLOBAL INNER JOIN matched AS m USING (run, comm, lane, nth, operation);

CREATE OR REPLACE VIEW stragglers AS
SELECT run, rank, host, process, countIf(w.came_last) AS last_in, sum(w.made_wait_ns) AS made_wait_ns,
       sum(w.waited_ns) AS waited_ns, sum(w.transfer_ns) AS transfer_ns, count() AS collectives
FROM waits AS w GROUP BY run, rank, host, process ORDER BY made_wait_ns DESC;

-- The median of the other ranks is that of all ranks without this one. A rank above it is never below the middle, so that
-- `low` stays. A rank that lacks a module has 0 there.
CREATE OR REPLACE VIEW causes AS
WITH of_module AS (
  SELECT run, process, any(rank) AS rank, any(host) AS host, ifNull(folded, '') AS module, any(iterations) AS n,
         sum(host_code_ns) AS host_code, sum(launching_ns) AS launching, sum(copy_calls_ns + own_copies_ns) AS copies,
         sum(memory_ns) AS memory, sum(own_kernels_ns) AS gpu
  FROM rank_module WHERE iterations > 0 GROUP BY run, process, module),
costs AS (
  SELECT run, module, cost.1 AS cause, groupArray((rank, host, process, cost.2 / n)) AS own,
         groupArray(cost.2 / n) AS own_ns
  FROM of_module
  ARRAY JOIN [('host', host_code), ('launching', launching), ('copies', copies), ('memory', memory), ('gpu', gpu)] AS cost
  GROUP BY run, module, cause),
job AS (SELECT run, uniqExact(process) AS ranks FROM rank_module GROUP BY run HAVING ranks > 1),
sorted AS (
  SELECT c.run AS run, c.module AS module, c.cause AS cause, c.own AS own,
         arraySort(arrayConcat(c.own_ns, arrayWithConstant(j.ranks - length(c.own_ns), 0.))) AS all_ns,
         all_ns[intDiv(j.ranks, 2)] AS low, arraySlice(all_ns, intDiv(j.ranks + 1, 2), 2) AS high
  FROM costs AS c GLOBAL INNER JOIN job AS j USING (run)),
compared AS (
  SELECT run, one.1 AS rank, one.2 AS host, one.3 AS process, module, cause, one.4 AS ns,
         (low + high[1 + (ns <= high[1])]) / 2 AS others_ns
  FROM (SELECT run, module, cause, own, low, high FROM sorted) ARRAY JOIN own AS one)
SELECT run, rank, host, process, module, cause, ns, others_ns, ns - others_ns AS excess_ns
FROM compared WHERE ns > others_ns ORDER BY excess_ns DESC;

CREATE OR REPLACE VIEW slow_iterations AS
WITH medians AS (
  SELECT run, process, quantileExactInclusive(wall_ns) AS median_ns FROM iterations WHERE counts GROUP BY run, process)
SELECT i.run AS run, i.rank AS rank, i.host AS host, i.process AS process, i.iteration AS iteration,
       i.wall_ns AS wall_ns, m.median_ns AS median_ns, i.wall_ns / m.median_ns AS over_median
FROM iterations AS i GLOBAL INNER JOIN medians AS m USING (run, process)
WHERE i.counts AND i.wall_ns > 1.2 * m.median_ns ORDER BY i.wall_ns - m.median_ns DESC;

-- SELECT * FROM regressions(run_a = 'sunday', run_b = 'monday')
CREATE OR REPLACE VIEW regressions AS
WITH times AS (
  SELECT run, module, sum(t.gpu_ns) / count() AS gpu_ns, sum(t.host_ns) / count() AS host_ns, avg(t.calls) AS calls
  FROM rank_module AS t WHERE module IS NOT NULL AND run IN ({run_a:String}, {run_b:String}) GROUP BY run, module)
SELECT module, anyIfOrNull(gpu_ns, run = {run_a:String}) AS gpu_ns_a, anyIfOrNull(gpu_ns, run = {run_b:String}) AS gpu_ns_b,
       ifNull(gpu_ns_b, 0) - ifNull(gpu_ns_a, 0) AS more_gpu_ns,
       anyIfOrNull(host_ns, run = {run_a:String}) AS host_ns_a, anyIfOrNull(host_ns, run = {run_b:String}) AS host_ns_b,
       anyIfOrNull(calls, run = {run_a:String}) AS calls_a, anyIfOrNull(calls, run = {run_b:String}) AS calls_b
FROM times GROUP BY module ORDER BY more_gpu_ns DESC;
