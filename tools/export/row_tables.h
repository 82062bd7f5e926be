// SPDX-License-Identifier: Apache-2.0
//
// The tables that csv and sqlite write, their columns in both formats, and the values of a row.
// docs/reference/export.md documents them.
//
//   record ─▶ write_rows() ─▶ RowSink::row(table, cells) ─▶ CsvTables    kernels.csv
//                                                    └────▶ SqliteRows   CUPTI_ACTIVITY_KIND_KERNEL
//
// A row has a cell for each column of its table, in their order; cells that are missing at its end are empty.
// Each format writes the columns that it has a name for. Times are nanoseconds relative to the trace's
// base_unix_ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

enum class RowTable : std::uint8_t {
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
  holds,
  gaps,
  ranges,
  marks,
  samples,
  conditions,
  frames,
  stacks,
  stack_samples,
  loss,
  contexts,
  calls,
  nvtx_names,
  count
};

struct RowColumn {
  std::string csv, sqlite;  ///< empty: not in this format
};

struct RowTableShape {
  RowTable id;
  std::string_view csv, sqlite;  ///< empty: not in this format
  std::vector<RowColumn> columns;
};

inline constexpr std::size_t kMaxRowCells = 32;

/// In the order of RowTable. None has more than kMaxRowCells columns.
[[nodiscard]] const std::vector<RowTableShape>& row_tables();

/// A text that many rows share. SQLite has its id in StringIds. The text stays at its address, which
/// identifies it, until all rows of the trace are written.
struct NameCell {
  std::string_view text;
};
/// SQLite has the process in it, as in Nsight Systems; 0 is the process alone.
struct ThreadCell {
  std::uint32_t id;
};
/// An address or handle, as text; 0: none.
struct HandleCell {
  std::uint64_t value;
};
/// "#AARRGGBB" in CSV, a number in SQLite; 0: none.
struct ColorCell {
  std::uint32_t argb;
};
/// SQLite has a column for each type, CSV one for all.
struct PayloadCell {
  const NvtxExtras* extras;
  PayloadType column;
};
/// monostate: not measured, or none. Texts are borrowed until the row is written.
using RowCell = std::variant<std::monostate, bool, std::uint64_t, std::int64_t, double, std::string_view,
                             NameCell, ThreadCell, HandleCell, ColorCell, PayloadCell, CopyKind, MemoryKind>;

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void row(RowTable table, std::span<const RowCell> cells) = 0;
};

struct TraceOutline;

/// Writes names, GPUs, streams and loss, then a row or more per event, also of records without times. Memory
/// grows with distinct names.
void write_rows(const TraceOutline& trace, RowSink& sink);

/// Nsight Systems' values of NVTX_EVENTS.eventType.
inline constexpr int kNsysNvtxCategory = 33, kNsysNvtxMark = 34, kNsysNvtxPushPop = 59,
                     kNsysNvtxStartEnd = 60, kNsysNvtxDomain = 75;

}  // namespace rangefinder
