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

-- Which collective of a process is which of the first process of its communicator: with the right shift their ends
-- differ by the same in all of them. Sampled: 64 of them, shifts up to 256. Without a communicator those of a stream
-- belong together, if they end together. `cost`: how far apart ends are without a shift; `searched`: with others,
-- where that is too much.
CREATE OR REPLACE VIEW collective_shifts AS
WITH lanes AS (
  SELECT run, process, rank, host, toInt64(nth) AS place, cityHash64(operation) AS kind, end_ns,
         ifNull(communicator, 0) AS comm, if(communicator IS NULL, stream, 0) AS lane
  FROM collectives),
sizes AS (
  SELECT run, comm, lane, process, min(ifNull(rank, 0)) AS number, toInt64(count()) AS size, any(host) AS machine,
         groupArray(place) AS places, groupArray(end_ns) AS ends, groupArray(kind) AS kinds
  FROM lanes GROUP BY run, comm, lane, process),
started AS (
  SELECT s.run AS run, s.comm AS comm, s.lane AS lane, s.process AS process, s.number AS number, s.size AS size,
         s.machine AS machine, p.start_unix_ns AS start, s.places AS places, s.ends AS ends, s.kinds AS kinds
  FROM sizes AS s GLOBAL INNER JOIN processes AS p ON p.run = s.run AND p.process = s.process),
firsts AS (
  SELECT run, comm, lane, argMin((s.size, s.machine, s.start, s.places, s.ends, s.kinds), (s.number, s.process)) AS one,
         tupleElement(one, 1) AS size, tupleElement(one, 2) AS machine, tupleElement(one, 3) AS start,
         greatest(1, intDiv(size, 64)) AS step,
         arraySort(arrayFilter(mark -> mark.1 % step = 0,
                               arrayZip(tupleElement(one, 4), tupleElement(one, 5), tupleElement(one, 6)))) AS marks
  FROM started AS s GROUP BY run, comm, lane),
straight AS (
  SELECT s.run AS run, s.comm AS comm, s.lane AS lane, s.process AS process, s.size AS size, f.size AS first_size,
         s.machine = f.machine AS one_clock, s.start - f.start AS offset_ns, f.marks AS first,
         arraySort(arrayFilter(one -> one.1 % f.step = 0, arrayZip(s.places, s.ends, s.kinds))) AS own,
         least(length(own), length(first)) AS compared, arrayResize(own, compared) AS ours, arrayResize(first, compared) AS theirs,
         arrayMap((a, b) -> a.2 + offset_ns - b.2, ours, theirs) AS apart,
         arrayReduce('quantileExactInclusive', apart) AS middle,
         if(arrayAll((a, b) -> a.3 = b.3, ours, theirs),
            arrayReduce('quantileExactInclusive', arrayMap(a -> abs(a - middle), apart)) + one_clock * abs(middle),
            NULL) AS cost
  FROM started AS s GLOBAL INNER JOIN firsts AS f
  USING (run, comm, lane)),
unfit AS (
  SELECT run, comm, lane, process, size, first_size, one_clock, offset_ns, first FROM straight
  WHERE ifNull(cost > 50000, 1)),
searched AS (
  SELECT m.run AS run, m.comm AS comm, m.lane AS lane, m.process AS process, m.shift AS shift,
         groupArray(l.end_ns + m.offset_ns - m.mark.2) AS apart, arrayReduce('quantileExactInclusive', apart) AS middle,
         arrayReduce('quantileExactInclusive', arrayMap(a -> abs(a - middle), apart)) + any(m.one_clock) * abs(middle)
           AS cost
  FROM (SELECT *, arrayJoin(first) AS mark, arrayJoin(range(-256, 257)) AS shift, mark.1 + shift AS place FROM unfit) AS m
  GLOBAL INNER JOIN (SELECT * FROM lanes WHERE (run, comm, lane, process) GLOBAL IN
                     (SELECT run, comm, lane, process FROM unfit)) AS l
  ON l.run = m.run AND l.comm = m.comm AND l.lane = m.lane AND l.process = m.process AND l.place = m.place
  WHERE least(m.first_size, m.size - m.shift) - greatest(0, -m.shift)
        >= greatest(1, intDiv(least(m.first_size, m.size), if(m.comm = 0, 2, 4)))
  GROUP BY run, comm, lane, process, shift HAVING min(l.kind = m.mark.3)),
best AS (
  SELECT run, comm, lane, process, toNullable(min(f.cost)) AS cost,
         toNullable(argMin(f.shift, (round(f.cost), 2 * abs(f.shift) + (f.shift < 0)))) AS shift
  FROM searched AS f GROUP BY run, comm, lane, process),
chosen AS (
  SELECT s.run AS run, s.comm AS comm, s.lane AS lane, s.process AS process,
         multiIf(s.cost <= 50000 OR b.cost + 50000 >= s.cost, 0, s.comm != 0 OR b.cost <= 50000, b.shift, NULL) AS shift
  FROM straight AS s GLOBAL LEFT JOIN best AS b
  ON b.run = s.run AND b.comm = s.comm AND b.lane = s.lane AND b.process = s.process)
SELECT run, comm, lane, process, shift,
       countIf(comm != 0 OR shift IS NOT NULL) OVER (PARTITION BY run, comm, lane) AS members
FROM chosen;

-- A rank waits in a collective for as long as its kernel is longer than the shortest on the others. Compared are those
-- that all processes of the communicator have.
CREATE OR REPLACE VIEW process_waits AS
WITH matched AS (
  SELECT l.run AS run, groupArray(l.process) AS processes_there, groupArray(l.duration_ns) AS durations,
         min(l.duration_ns) AS transfer_ns, max(l.duration_ns) AS longest_ns, count() AS ranks, sum(l.duration_ns) AS all_ns,
         argMin(l.process, (l.duration_ns, ifNull(l.rank, 0))) AS last_process
  FROM (SELECT run, process, rank, duration_ns, toInt64(nth) AS place, ifNull(communicator, 0) AS comm,
               if(communicator IS NULL, stream, 0) AS lane FROM collectives WHERE needs_all) AS l
  GLOBAL INNER JOIN (SELECT run, comm, lane, process, assumeNotNull(shift) AS shift, members FROM collective_shifts
                     WHERE shift IS NOT NULL) AS s USING (run, comm, lane, process)
  GROUP BY run, comm, lane, l.place - s.shift HAVING ranks > 1 AND ranks = any(s.members))
SELECT run, process, duration_ns - transfer_ns AS waited_ns, transfer_ns,
       last_process = process AND longest_ns > transfer_ns AS came_last,
       if(last_process = process, all_ns - ranks * transfer_ns, 0) AS made_wait_ns
FROM matched ARRAY JOIN processes_there AS process, durations AS duration_ns;

CREATE OR REPLACE VIEW waits AS
SELECT w.run AS run, w.process AS process, p.rank AS rank, p.host AS host, w.waited_ns AS waited_ns,
       w.transfer_ns AS transfer_ns, w.came_last AS came_last, w.made_wait_ns AS made_wait_ns
FROM process_waits AS w GLOBAL INNER JOIN (SELECT run, process, rank, host FROM processes) AS p USING (run, process);

CREATE OR REPLACE VIEW stragglers AS
SELECT s.run AS run, p.rank AS rank, p.host AS host, s.process AS process, s.last_in AS last_in,
       s.made_wait_ns AS made_wait_ns, s.waited_ns AS waited_ns, s.transfer_ns AS transfer_ns, s.collectives AS collectives
FROM (SELECT run, process, countIf(w.came_last) AS last_in, sum(w.made_wait_ns) AS made_wait_ns,
             sum(w.waited_ns) AS waited_ns, sum(w.transfer_ns) AS transfer_ns, count() AS collectives
      FROM process_waits AS w GROUP BY run, process) AS s
GLOBAL INNER JOIN (SELECT run, process, rank, host FROM processes) AS p USING (run, process)
ORDER BY made_wait_ns DESC;

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
