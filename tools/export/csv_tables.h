// SPDX-License-Identifier: Apache-2.0
//
// The tables of the csv export and their columns: docs/export.md lists them.
//
// One file a table, all traces in it: `trace` counts them from 0 and traces.csv says which is which.
// Times are nanoseconds relative to base_unix_ns of the trace. Names stand in the rows, so that a file
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
  /// All get their names. Returns their paths.
  [[nodiscard]] std::vector<std::filesystem::path> commit();

 private:
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<CsvTable>> tables_;
};

}  // namespace rangefinder
