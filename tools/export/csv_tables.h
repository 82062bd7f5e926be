// SPDX-License-Identifier: Apache-2.0
//
// The tables of the csv export and their columns; docs/export.md documents them.
//
// One file per table, for all traces: the column `trace` is the number of the trace in traces.csv, from 0.
// Times are nanoseconds relative to the trace's base_unix_ns. Rows have names instead of ids, so each file
// can be read alone.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "tools/export/csv_table.h"

namespace rangefinder {

enum class CsvTableId : std::uint8_t {
  traces,
  gpus,
  threads,
  streams,
  modules,
  kernels,
  memcpys,
  memsets,
  graphs,
  launches,
  exact,
  metrics,
  syncs,
  allocations,
  events,
  captures,
  overhead,
  ranges,
  marks,
  samples,
  loss,
  count
};

struct CsvTableShape {
  CsvTableId id;
  std::string_view name;
  std::vector<std::string_view> columns;
};

/// In the order of CsvTableId.
[[nodiscard]] const std::vector<CsvTableShape>& csv_tables();

/// The files of one export.
class CsvTables {
 public:
  CsvTables(const std::filesystem::path& folder, Overwrite overwrite);
  [[nodiscard]] CsvTable& operator[](CsvTableId id) { return *tables_[static_cast<std::size_t>(id)]; }
  /// Commits all files and returns their paths.
  [[nodiscard]] std::vector<std::filesystem::path> commit();

 private:
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<CsvTable>> tables_;
};

}  // namespace rangefinder
