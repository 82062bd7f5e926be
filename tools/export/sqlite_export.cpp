// SPDX-License-Identifier: Apache-2.0
//
// A trace as an SQLite database, one file per process: rows as inserts into the tables of sqlite_schema.h.
//
// Memory grows with distinct texts. Process and thread ids are packed as in Nsight Systems:
// globalTid / 0x1000000 % 0x1000000 is the process, globalTid % 0x1000000 the thread.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/key_names.h"
#include "tools/export/export_format.h"
#include "tools/export/row_tables.h"
#include "tools/export/sqlite_database.h"
#include "tools/export/sqlite_schema.h"
#include "tools/export/trace_outline.h"
#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

/// CUpti_ActivityMemcpyKind, by CopyKind.
constexpr std::array<int, kCopyKindNames.size()> kCopyKindIds{0, 1, 2, 8, 9, 10, 3, 4, 5, 6, 7};
/// Nsight Systems' ids of memory kinds, by MemoryKind.
constexpr std::array<int, kMemoryKindNames.size()> kMemoryKindIds{0xffff, 0, 1, 2, 3, 4, 5, 6};

struct EnumRow {
  int id;
  const char* name;
  const char* label;
};
constexpr std::array kCopyKindRows{EnumRow{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
                                   EnumRow{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
                                   EnumRow{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
                                   EnumRow{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
                                   EnumRow{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
                                   EnumRow{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
                                   EnumRow{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
                                   EnumRow{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
                                   EnumRow{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
                                   EnumRow{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
                                   EnumRow{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"}};
constexpr std::array kMemoryKinds{EnumRow{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
                                  EnumRow{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
                                  EnumRow{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
                                  EnumRow{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
                                  EnumRow{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
                                  EnumRow{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
                                  EnumRow{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
                                  EnumRow{0xffff, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}};
constexpr std::array kEventTypes{EnumRow{kNsysNvtxCategory, "NvtxCategory", "NVTX category"},
                                 EnumRow{kNsysNvtxMark, "NvtxMark", "NVTX mark"},
                                 EnumRow{kNsysNvtxPushPop, "NvtxPushPopRange", "NVTX push/pop range"},
                                 EnumRow{kNsysNvtxStartEnd, "NvtxStartEndRange", "NVTX start/end range"},
                                 EnumRow{kNsysNvtxDomain, "NvtxDomainCreate", "NVTX domain"}};

class SqliteRows final : public RowSink {
 public:
  /// The tables must exist.
  SqliteRows(const TraceOutline& trace, SqliteDatabase& database);

  /// Adds the enumerations and the facts of the trace, which only this format has.
  void add_facts();
  void row(RowTable table, std::span<const RowCell> cells) override;

 private:
  struct Target {
    SqliteInsert* insert = nullptr;  ///< nullptr: not in this format
    std::vector<std::size_t> cells;  ///< for each column of the insert, of a row; its end: NULL
  };
  void bind(SqliteInsert& row, const RowCell& cell);
  void bind_payload(SqliteInsert& row, const PayloadCell& payload);
  [[nodiscard]] std::int64_t global_tid(std::uint32_t thread) const;
  /// Id in StringIds.
  [[nodiscard]] std::int64_t string_id(std::string_view text);

  const TraceOutline& trace_;
  SqliteDatabase& database_;
  std::map<std::string, SqliteInsert> inserts_;  ///< by name of the table
  std::vector<Target> targets_;                  ///< by RowTable
  SqliteInsert strings_;
  std::map<std::string, std::int64_t> ids_;                       ///< of the texts in StringIds
  std::unordered_map<const char*, std::int64_t> ids_by_address_;  ///< by address of the text
};

SqliteRows::SqliteRows(const TraceOutline& trace, SqliteDatabase& database)
    : trace_(trace), database_(database), strings_(database, "StringIds") {
  for (const RowTableShape& shape : row_tables()) {
    Target& target = targets_.emplace_back();
    if (shape.sqlite.empty()) continue;
    const std::string table(shape.sqlite);
    target.insert = &inserts_.try_emplace(table, database, table).first->second;
    for (const std::string& column : target.insert->columns()) {
      const auto at = std::find_if(shape.columns.begin(), shape.columns.end(),
                                   [&](const RowColumn& shown) { return shown.sqlite == column; });
      target.cells.push_back(static_cast<std::size_t>(at - shape.columns.begin()));
    }
  }
}

void SqliteRows::row(RowTable table, std::span<const RowCell> cells) {
  const Target& target = targets_[static_cast<std::size_t>(table)];
  if (target.insert == nullptr) return;
  for (const std::size_t at : target.cells) bind(*target.insert, at < cells.size() ? cells[at] : RowCell());
  target.insert->run();
}

void SqliteRows::bind(SqliteInsert& row, const RowCell& cell) {
  std::visit(
      [&]<typename T>(const T& value) {
        if constexpr (std::same_as<T, std::monostate>) {
          row.bind(std::nullopt);
        } else if constexpr (std::same_as<T, NameCell>) {
          row.bind(string_id(value.text));
        } else if constexpr (std::same_as<T, ThreadCell>) {
          row.bind(global_tid(value.id));
        } else if constexpr (std::same_as<T, HandleCell>) {
          bind(row, value.value == 0 ? RowCell() : handle_text(value.value));
        } else if constexpr (std::same_as<T, ColorCell>) {
          bind(row, value.argb == 0 ? RowCell() : std::uint64_t{value.argb});
        } else if constexpr (std::same_as<T, PayloadCell>) {
          bind_payload(row, value);
        } else if constexpr (std::same_as<T, CopyKind>) {
          row.bind(kCopyKindIds[static_cast<std::size_t>(value)]);
        } else if constexpr (std::same_as<T, MemoryKind>) {
          row.bind(kMemoryKindIds[static_cast<std::size_t>(value)]);
        } else {
          row.bind(value);
        }
      },
      cell);
}

void SqliteRows::bind_payload(SqliteInsert& row, const PayloadCell& payload) {
  if (payload.extras->payload_type != payload.column) return row.bind(std::nullopt);
  std::visit([&](const auto& value) { bind(row, value); }, payload_value(*payload.extras));
}

std::int64_t SqliteRows::global_tid(std::uint32_t thread) const {
  const auto pid = static_cast<std::uint64_t>(trace_.header.pid) & 0xFFFFFF;
  return static_cast<std::int64_t>(pid << 24 | (thread & 0xFFFFFF));
}

std::int64_t SqliteRows::string_id(std::string_view text) {
  const auto [at, is_new_address] = ids_by_address_.try_emplace(text.data());
  if (!is_new_address) return at->second;
  const auto [it, is_new] = ids_.try_emplace(std::string(text), ids_.size() + 1);
  if (is_new) strings_.add(it->second, text);
  return at->second = it->second;
}

void SqliteRows::add_facts() {
  const auto add_kinds = [this](const char* table, const auto& kinds) {
    SqliteInsert insert(database_, table);
    for (const EnumRow& row : kinds) insert.add(row.id, row.name, row.label);
  };
  add_kinds("ENUM_CUDA_MEMCPY_OPER", kCopyKindRows);
  add_kinds("ENUM_CUDA_MEM_KIND", kMemoryKinds);
  add_kinds("ENUM_NSYS_EVENT_TYPE", kEventTypes);
  const Header& header = trace_.header;
  SqliteInsert(database_, "TARGET_INFO_SESSION_START_TIME").add(header.base_unix_ns);
  SqliteInsert environment(database_, "TARGET_INFO_SYSTEM_ENV");
  environment.add("Hostname", header.host);
  environment.add("CUDA driver version", header.driver_version);
  SqliteInsert(database_, "PROCESSES").add(global_tid(0), header.pid, header.executable);
  const std::pair<const char*, std::string> facts[] = {
      {"schema", kTraceSchema},
      {"tool_version", header.tool_version},
      {"folder", trace_.files.folder.string()},
      {"rank", header.rank},
      {"base_unix_ns", std::to_string(header.base_unix_ns)},
      {"last_ns", std::to_string(trace_.last_ns)},
      {"driver_release", header.driver_release},
      {"counters", header.counters},
      {"counters_reason", header.counters_reason},
      {"end_reason", trace_.end ? trace_.end->reason : "killed, or still running"}};
  SqliteInsert insert(database_, "trace");
  for (const auto& [name, value] : facts) insert.add(name, value);
}

void write_database(const TraceOutline& trace, const std::filesystem::path& file) {
  SqliteDatabase database(file);
  database.execute(kSqliteNsightTables);
  database.execute(kSqliteOwnTables);
  {
    SqliteRows rows(trace, database);
    rows.add_facts();
    write_rows(trace, rows);
  }
  database.execute(kSqliteIndexes);
  database.commit();
}

}  // namespace

ExportResult export_sqlite(const ExportRequest& request) {
  const bool is_one_file = request.traces.size() == 1 && !std::filesystem::is_directory(request.out);
  return export_each(
      request, is_one_file, ".sqlite",
      [&request](const TraceOutline& trace, const std::filesystem::path& target, ExportResult&) {
        TemporaryTarget place(target, request.overwrite);
        write_database(trace, place.temporary());
        place.commit();
      });
}

}  // namespace rangefinder
