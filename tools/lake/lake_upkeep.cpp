// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/lake_upkeep.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "tools/analysis/model/missing.h"
#include "tools/lake/lake_add.h"
#include "tools/lake/lake_views.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNsPerS = 1'000'000'000;

std::uint64_t size_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : size;
}

struct RunTotals {
  std::uint64_t processes = 0, bytes = 0;
  std::int64_t first_s = INT64_MAX, last_s = INT64_MIN, added_s = INT64_MIN;
  std::set<std::string> hosts, parts;
};

std::map<std::string, RunTotals> totals_of(const LakeFolder& lake) {
  std::map<std::string, RunTotals> out;
  for (const LakeManifest& manifest : lake.manifests()) {
    RunTotals& run = out[manifest.key.run];
    ++run.processes;
    run.hosts.insert(manifest.key.host);
    run.first_s = std::min(run.first_s, manifest.key.start_ns / kNsPerS);
    run.last_s = std::max(run.last_s, manifest.key.start_ns / kNsPerS);
    run.added_s = std::max(run.added_s, manifest.added_unix_s);
    if (!run.parts.insert(manifest.part).second) continue;
    for (const std::string& table : manifest.tables)
      run.bytes += size_of(lake.part_file(table, manifest.key.run, manifest.part));
  }
  return out;
}

LakeRemoved remove_runs(const LakeFolder& lake, const std::set<std::string>& runs) {
  LakeRemoved out;
  out.runs.assign(runs.begin(), runs.end());
  for (const LakeManifest& manifest : lake.manifests()) {
    if (!runs.contains(manifest.key.run)) continue;
    lake.remove(manifest);
    ++out.processes;
  }
  out.bytes = lake.remove_garbage();
  return out;
}

/// As rows are in a part that `add` writes: processes by rank, their rows by the order of the table.
std::string order_sql(const LakeTable& table) {
  std::string out = " ORDER BY rank, process";
  for (const std::string_view column : table.order) out += ", " + std::string(column) + " NULLS FIRST";
  return out;
}

/// Joins some parts of one run to a new one.
void join(const LakeFolder& lake, const LakeParts& parts, std::vector<LakeManifest> manifests) {
  const fs::path staging = lake.new_staging();
  const std::string part = new_part_name(), run = manifests.front().key.run;
  DuckDb db({1, 0, staging / "spilled"});
  std::vector<std::string> tables;
  for (const LakeTable& table : lake_tables()) {
    const std::string rows = rows_of(table, lake, parts);
    if (rows.empty()) continue;
    const std::string name(table.name);
    const fs::path written = staging / (name + ".parquet");
    db.run(copy_sql("SELECT * EXCLUDE (run) FROM (" + rows + ")" + order_sql(table), written));
    const fs::path target = lake.part_file(name, run, part);
    fs::create_directories(target.parent_path());
    fs::rename(written, target);
    tables.push_back(name);
  }
  for (LakeManifest& manifest : manifests) {
    manifest.part = part;
    manifest.part_processes = manifests.size();
    manifest.tables = tables;
    lake.write(manifest);
  }
  fs::remove_all(staging);
}

/// Adds parts while there is room for their processes.
struct Joined {
  LakeParts parts;
  std::vector<LakeManifest> manifests;
  bool needed = false;  ///< also for one part: it contains rows that no longer count

  void join_into(const LakeFolder& lake) {
    if (parts.size() > 1 || needed) join(lake, parts, std::move(manifests));
    *this = {};
  }
};

}  // namespace

Table lake_runs(const LakeFolder& lake) {
  Table out;
  out.name = "runs";
  out.columns = {{"run", "run"},
                 {"processes", "processes", Unit::count},
                 {"hosts", "hosts", Unit::count},
                 {"parts", "parts", Unit::count},
                 {"bytes", "size", Unit::bytes},
                 {"first_unix_s", "first start", Unit::text, kAlwaysShown, "", kNotInText},
                 {"last_unix_s", "last start", Unit::text, kAlwaysShown, "", kNotInText},
                 {"added_unix_s", "added", Unit::text, kAlwaysShown, "", kNotInText}};
  out.empty = "The lake is empty.";
  for (const auto& [name, run] : totals_of(lake)) {
    out.add({Cell(CellValue(name)), Cell(CellValue(run.processes)),
             Cell(CellValue(std::uint64_t{run.hosts.size()})),
             Cell(CellValue(std::uint64_t{run.parts.size()})), Cell(CellValue(run.bytes)),
             Cell(CellValue(run.first_s)), Cell(CellValue(run.last_s)), Cell(CellValue(run.added_s))});
  }
  return out;
}

LakeRemoved remove_run(const LakeFolder& lake, const std::string& run) {
  static_cast<void>(encoded_run(run));
  if (!totals_of(lake).contains(run))
    throw Missing("the lake has no run " + run + ": see `rangefinder lake list`");
  return remove_runs(lake, {run});
}

LakeRemoved expire_runs(const LakeFolder& lake, std::int64_t before_unix_s) {
  std::set<std::string> old;
  for (const auto& [name, run] : totals_of(lake)) {
    if (run.last_s < before_unix_s) old.insert(name);
  }
  return remove_runs(lake, old);
}

LakeCompacted compact_lake(const LakeFolder& lake) {
  LakeCompacted out;
  std::map<std::string, std::vector<LakeManifest>> by_part;
  for (LakeManifest& manifest : lake.manifests()) by_part[manifest.part].push_back(std::move(manifest));
  const LakeParts all = parts_of(lake);
  out.parts_before = all.size();
  std::map<std::string, Joined> open;  // by run
  for (const auto& [name, part] : all) {
    const bool has_garbage = part.counted.size() != part.processes;
    if (part.counted.size() >= kMinPartProcesses && !has_garbage) continue;
    Joined& joined = open[part.run];
    if (joined.manifests.size() + part.counted.size() > kMaxPartProcesses) joined.join_into(lake);
    joined.parts.emplace(name, part);
    joined.needed = joined.needed || has_garbage;
    for (LakeManifest& manifest : by_part[name]) joined.manifests.push_back(std::move(manifest));
  }
  for (auto& [run, joined] : open) joined.join_into(lake);
  out.removed_bytes = lake.remove_garbage();
  out.parts_after = parts_of(lake).size();
  return out;
}

}  // namespace rangefinder
