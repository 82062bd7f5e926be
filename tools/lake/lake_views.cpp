// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/lake_views.h"

#include <algorithm>

#include "tools/lake/trace_tables.h"

namespace rangefinder {
namespace {

// Which collective of a process is which of the first one of its communicator, as shift_between() finds it
// (collective_order.h): with the right shift their ends differ by the same in all of them. Sampled: 64 of
// them, shifts up to 256. Without a communicator those of a stream belong together, if they end together.
constexpr const char* kLanes = R"sql(
WITH lanes AS (
  SELECT run, process, rank, host, nth, operation, needs_all, end_ns, duration_ns, coalesce(communicator, 0) AS comm,
         CASE WHEN communicator IS NULL THEN stream ELSE 0 END AS lane
  FROM collectives),
sizes AS (
  SELECT l.run, comm, lane, l.process, min(coalesce(l.rank, 0)) AS number, any_value(l.host) AS machine, count(*) AS size,
         any_value(p.start_unix_ns) AS start_unix_ns
  FROM lanes l LEFT JOIN processes p ON p.run = l.run AND p.process = l.process GROUP BY l.run, comm, lane, l.process),
firsts AS (
  FROM sizes QUALIFY row_number() OVER (PARTITION BY run, comm, lane ORDER BY number, process) = 1),
pairs AS (
  SELECT s.run, s.comm, s.lane, s.process, s.size, f.process AS first, f.size AS first_size,
         s.machine = f.machine AS one_clock, s.start_unix_ns - f.start_unix_ns AS offset_ns
  FROM sizes s JOIN firsts f USING (run, comm, lane)),
marks AS (
  SELECT p.*, l.nth, l.end_ns, l.operation FROM pairs p JOIN lanes l
  ON l.run = p.run AND l.comm = p.comm AND l.lane = p.lane AND l.process = p.first AND l.nth % greatest(1, first_size // 64) = 0),
)sql";

/// A CTE: how far apart the ends are with each of these shifts of some pairs. `pairs`: run, comm, lane,
/// process.
std::string fits_sql(const std::string& name, const std::string& pairs, const std::string& shifts) {
  return name + R"sql( AS (
  SELECT run, comm, lane, process, shift,
         median(abs(apart_ns - middle_ns)) + any_value(CASE WHEN one_clock THEN abs(middle_ns) ELSE 0 END) AS cost_ns
  FROM (SELECT *, median(apart_ns) OVER (PARTITION BY run, comm, lane, process, shift) AS middle_ns
        FROM (SELECT m.run, m.comm, m.lane, m.process, m.one_clock, s.shift, m.operation = l.operation AS alike,
                     l.end_ns + m.offset_ns - m.end_ns AS apart_ns
              FROM marks m JOIN )sql" +
         pairs + R"sql( USING (run, comm, lane, process) CROSS JOIN )sql" + shifts + R"sql( s(shift)
              JOIN lanes l ON l.run = m.run AND l.comm = m.comm AND l.lane = m.lane AND l.process = m.process
                           AND l.nth = m.nth + s.shift
              WHERE least(m.first_size, m.size - s.shift) - greatest(0, -s.shift)
                    >= greatest(1, least(m.first_size, m.size) // CASE WHEN m.comm = 0 THEN 2 ELSE 4 END)))
  GROUP BY run, comm, lane, process, shift HAVING bool_and(alike)))sql";
}

// A rank waits in a collective for as long as its kernel is longer than the shortest on the others: no clock
// is needed (rank_waits.h). Compared are collectives that all processes of the communicator have.
constexpr const char* kWaits = R"sql(
shifts AS (
  SELECT p.run, p.comm, p.lane, p.process,
         CASE WHEN s.cost_ns <= 50000 OR b.cost_ns + 50000 >= s.cost_ns THEN 0
              WHEN p.comm != 0 OR b.cost_ns <= 50000 THEN b.shift END AS shift
  FROM pairs p LEFT JOIN straight s USING (run, comm, lane, process)
  LEFT JOIN (SELECT run, comm, lane, process, min(cost_ns) AS cost_ns,
                    arg_min(shift, cost_ns::HUGEINT * 1024 + 2 * abs(shift) + (shift < 0)::INTEGER) AS shift
             FROM searched GROUP BY ALL) b USING (run, comm, lane, process)),
members AS (
  SELECT run, comm, lane, count(*) FILTER (comm != 0 OR shift IS NOT NULL) AS members FROM shifts GROUP BY ALL),
placed AS (
  SELECT l.*, l.nth - s.shift AS place, members FROM lanes l JOIN shifts s USING (run, comm, lane, process)
  JOIN members USING (run, comm, lane) WHERE l.needs_all),
matched AS (
  SELECT run, comm, lane, place, min(duration_ns) AS transfer_ns, max(duration_ns) AS longest_ns,
         count(*) AS ranks, sum(duration_ns) AS all_ns,
         arg_min(process, duration_ns::HUGEINT * 4294967296 + coalesce(rank, 0)) AS last_process
  FROM placed GROUP BY run, comm, lane, place HAVING count(*) > 1 AND count(*) = any_value(members))
SELECT l.run, l.process, l.rank, l.host, l.duration_ns - m.transfer_ns AS waited_ns, m.transfer_ns,
       m.last_process = l.process AND m.longest_ns > m.transfer_ns AS came_last,
       CASE WHEN m.last_process = l.process THEN m.all_ns - m.ranks * m.transfer_ns ELSE 0 END AS made_wait_ns
FROM placed l JOIN matched m USING (run, comm, lane, place);
)sql";

std::string waits_sql() {
  return std::string("CREATE VIEW waits AS") + kLanes + fits_sql("straight", "pairs", "(VALUES (0))") +
         ",\n" +
         "unfit AS (SELECT run, comm, lane, process FROM pairs ANTI JOIN (FROM straight WHERE cost_ns <= "
         "50000) "
         "USING (run, comm, lane, process)),\n" +
         fits_sql("searched", "unfit", "range(-256, 257)") + "," + kWaits;
}

constexpr const char* kAnswers = R"sql(
CREATE VIEW modules AS SELECT * FROM rank_module;

CREATE VIEW stragglers AS
SELECT run, rank, host, process, count(*) FILTER (came_last) AS last_in, sum(made_wait_ns) AS made_wait_ns,
       sum(waited_ns) AS waited_ns, sum(transfer_ns) AS transfer_ns, count(*) AS collectives
FROM waits GROUP BY run, rank, host, process ORDER BY made_wait_ns DESC;

CREATE VIEW causes AS
WITH of_module AS (
  SELECT run, process, coalesce(folded, '') AS module, any_value(iterations) AS iterations, sum(host_code_ns) AS host,
         sum(launching_ns) AS launching, sum(copy_calls_ns + own_copies_ns) AS copies, sum(memory_ns) AS memory,
         sum(own_kernels_ns) AS gpu
  FROM rank_module WHERE iterations > 0 GROUP BY ALL),
costs AS (
  SELECT run, process, module, cost.cause AS cause, cost.ns / iterations AS ns
  FROM (SELECT *, unnest([{'cause': 'host', 'ns': host}, {'cause': 'launching', 'ns': launching},
                          {'cause': 'copies', 'ns': copies}, {'cause': 'memory', 'ns': memory},
                          {'cause': 'gpu', 'ns': gpu}]) AS cost FROM of_module)),
everywhere AS (
  SELECT r.run, r.process, r.rank, r.host, m.module, m.cause, coalesce(c.ns, 0) AS ns
  FROM (SELECT DISTINCT run, process, rank, host FROM rank_module) r
  JOIN (SELECT DISTINCT run, module, cause FROM costs WHERE ns > 0) m USING (run)
  LEFT JOIN costs c ON c.run = r.run AND c.process = r.process AND c.module = m.module AND c.cause = m.cause),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY run, module, cause ORDER BY ns, process) AS place FROM everywhere),
sorted AS (SELECT run, module, cause, list(ns ORDER BY ns, process) AS all_ns FROM everywhere GROUP BY ALL),
compared AS (
  SELECT placed.*, len(all_ns) - 1 AS others,
         all_ns[len(all_ns) // 2 + (place <= len(all_ns) // 2)::INTEGER] AS low_ns,
         all_ns[(len(all_ns) + 1) // 2 + (place <= (len(all_ns) + 1) // 2)::INTEGER] AS high_ns
  FROM placed JOIN sorted USING (run, module, cause))
SELECT run, rank, host, process, module, cause, ns, (low_ns + high_ns) / 2 AS others_ns,
       ns - (low_ns + high_ns) / 2 AS excess_ns
FROM compared WHERE others > 0 AND ns > (low_ns + high_ns) / 2 ORDER BY excess_ns DESC;

CREATE VIEW slow_iterations AS
SELECT run, rank, host, process, iteration, wall_ns, median_ns, wall_ns / median_ns AS over_median
FROM (SELECT *, median(wall_ns) OVER (PARTITION BY run, process) AS median_ns FROM iterations WHERE counts)
WHERE wall_ns > 1.2 * median_ns ORDER BY wall_ns - median_ns DESC;

CREATE MACRO regressions(run_a, run_b) AS TABLE
WITH times AS (
  SELECT run, module, sum(gpu_ns) / count(*) AS gpu_ns, sum(host_ns) / count(*) AS host_ns, avg(calls) AS calls
  FROM rank_module WHERE module IS NOT NULL AND run IN (run_a, run_b) GROUP BY run, module),
a AS (SELECT * FROM times WHERE run = run_a), b AS (SELECT * FROM times WHERE run = run_b)
SELECT module, a.gpu_ns AS gpu_ns_a, b.gpu_ns AS gpu_ns_b, coalesce(b.gpu_ns, 0) - coalesce(a.gpu_ns, 0) AS more_gpu_ns,
       a.host_ns AS host_ns_a, b.host_ns AS host_ns_b, a.calls AS calls_a, b.calls AS calls_b
FROM a FULL JOIN b USING (module) ORDER BY more_gpu_ns DESC;
)sql";

// Not by hive_partitioning, which takes folders above the lake too.
constexpr const char* kRunOfFile =
    " * EXCLUDE (filename), url_decode(regexp_extract(filename, '/run=([^/]*)/part-[^/]*$', 1)) AS run FROM "
    "read_parquet(";

bool has_column(const LakeTable& table, std::string_view name) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [name](const LakeColumn& column) { return column.name == name; });
}

void create_view(DuckDb& db, const LakeTable& table, const std::string& rows) {
  std::string columns = "*";
  if (has_column(table, "end_ns")) columns += ", end_ns - start_ns AS duration_ns";
  db.run("CREATE VIEW " + sql_name(table.name) + " AS SELECT " + columns + " FROM (" + rows + ")");
}

std::string files_sql(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "[" : ", ") + sql_text(file);
  return out + "]";
}

}  // namespace

LakeParts parts_of(const LakeFolder& lake) {
  LakeParts out;
  for (const LakeManifest& manifest : lake.manifests()) {
    LakePart& part = out[manifest.part];
    part.run = manifest.key.run;
    part.processes = manifest.part_processes;
    part.tables = manifest.tables;
    part.counted.push_back(manifest.key.number());
  }
  return out;
}

std::string rows_of(const LakeTable& table, const LakeFolder& lake, const LakeParts& parts) {
  const std::string name(table.name);
  std::vector<std::string> whole;
  std::string out;
  const auto add = [&out](const std::vector<std::string>& files, const std::string& condition) {
    out += (out.empty() ? "SELECT" : " UNION ALL SELECT") + std::string(kRunOfFile) + files_sql(files) +
           ", filename = true, hive_partitioning = false)" + condition;
  };
  for (const auto& [part_name, part] : parts) {
    if (std::find(part.tables.begin(), part.tables.end(), name) == part.tables.end()) continue;
    const std::string file = lake.part_file(name, part.run, part_name).string();
    if (part.counted.size() == part.processes) {
      whole.push_back(file);
      continue;
    }
    std::string counted;
    for (const std::uint64_t process : part.counted)
      counted += (counted.empty() ? "" : ", ") + std::to_string(process);
    add({file}, " WHERE process IN (" + counted + ")");
  }
  if (!whole.empty()) add(whole, "");
  return out;
}

void create_views(DuckDb& db) {
  for (const LakeTable& table : lake_tables()) {
    create_view(db, table, "SELECT *, '' AS run FROM " + TableRows::source(table.name));
  }
  db.run(waits_sql() + kAnswers);
}

void create_views(DuckDb& db, const LakeFolder& lake) {
  const LakeParts parts = parts_of(lake);
  for (const LakeTable& table : lake_tables()) {
    std::string rows = rows_of(table, lake, parts);
    if (rows.empty()) rows = "SELECT *, '' AS run FROM (" + no_rows_sql(table.columns) + ")";
    create_view(db, table, rows);
  }
  db.run(waits_sql() + kAnswers);
}

}  // namespace rangefinder
