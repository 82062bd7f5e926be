// SPDX-License-Identifier: Apache-2.0
//
// `--section memcpy`: copies by direction, memory and synchronous or not; memsets by memory.
//
// Copies from or to pageable memory are marked: they go through a buffer of the driver.
#include "tools/analysis/queries/memcpy.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "schema/key_names.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

constexpr Columns kMemcpySectionColumns = Column::work_times | Column::copies;

/// Sorted by time, then by bytes.
template <typename Map>
auto heaviest_first(const Map& map) {
  std::vector<const typename Map::value_type*> rows;
  for (const auto& entry : map) rows.push_back(&entry);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    const auto weight = [](const CopyAmount& amount) {
      return std::make_tuple(amount.durations.total_ns(), amount.bytes);
    };
    return weight(a->second) > weight(b->second);
  });
  return rows;
}

class MemcpySection final : public Section {
 public:
  void add(const SelectedRows& rows) override {
    rows.work(kMemcpySectionColumns, [this](const auto& record, bool begins) {
      if (begins) put(record);
    });
  }

  std::vector<Table> tables(const SectionInput&) override { return {copies(), memsets()}; }

 private:
  using CopyRoute = std::tuple<CopyKind, MemoryKind, MemoryKind, bool>;  // the last: synchronous

  template <typename Other>
  void put(const Other&) {}
  void put(const MemcpyRecord& copy) {
    const CopyRoute key{copy.kind, copy.source, copy.destination, !copy.async};
    copies_[key].add(copy.work, copy.bytes, copy.count);
  }
  void put(const MemsetRecord& memset) { memsets_[memset.memory].add(memset.work, memset.bytes, 1); }

  Table copies() const {
    Table table;
    table.name = "memcpy";
    table.empty = "No copy in this trace.";
    table.columns = {{"kind", "direction"}, {"src", "from"}, {"dst", "to"}};
    add_amount_columns(table.columns);
    table.columns.push_back({"pageable", "pageable", Unit::text, 80});
    table.columns.push_back({"synchronous", "synchronous", Unit::text, 70});
    bool pageable = false;
    for (const auto* const entry : heaviest_first(copies_)) {
      const auto& [kind, source, destination, synchronous] = entry->first;
      std::vector<Cell> row{text_cell(std::string(to_text(kind))), text_cell(std::string(to_text(source))),
                            text_cell(std::string(to_text(destination)))};
      add_amount(row, entry->second);
      const bool paged = source == MemoryKind::pageable || destination == MemoryKind::pageable;
      row.push_back(Cell(CellValue(paged), paged ? "yes" : "-"));
      row.push_back(Cell(CellValue(synchronous), synchronous ? "yes" : "-"));
      pageable = pageable || paged;
      table.add(std::move(row));
    }
    if (pageable) {
      table.remarks =
          "pageable: the driver copies through its own buffer. This is slower and cannot overlap with\n"
          "kernels. Pinned memory (cudaHostAlloc, pin_memory=True) avoids it.\n";
    }
    return table;
  }

  Table memsets() const {
    Table table;
    table.name = "memset";
    table.empty = "No memset in this trace.";
    table.columns = {{"memory", "memsets"}};
    add_amount_columns(table.columns);
    for (const auto* const entry : heaviest_first(memsets_)) {
      std::vector<Cell> row{text_cell(std::string(to_text(entry->first)))};
      add_amount(row, entry->second);
      table.add(std::move(row));
    }
    return table;
  }

  std::map<CopyRoute, CopyAmount> copies_;
  std::map<MemoryKind, CopyAmount> memsets_;
};

}  // namespace

void CopyAmount::add(const GpuWork& work, std::uint64_t moved, std::uint64_t copies) {
  count += copies;
  bytes += moved;
  if (!is_timed(work)) return;
  timed_bytes += moved;
  durations.add(duration_ns(work.start_ns, work.end_ns));
}

void add_amount(std::vector<Cell>& row, const CopyAmount& amount) {
  row.push_back(number_cell(amount.count));
  row.push_back(number_cell(amount.bytes));
  row.push_back(cell_if(amount.durations.count() != 0, amount.durations.total_ns()));
  row.push_back(rate_cell(amount.timed_bytes, amount.durations.total_ns()));
  row.push_back(ratio_cell(amount.bytes, amount.count));
  row.push_back(quantile_cell(amount.durations, 0.5));
  row.push_back(cell_if(amount.durations.count() != 0, amount.durations.max_ns()));
}

void add_amount_columns(std::vector<TableColumn>& columns) {
  columns.insert(columns.end(),
                 {{"count", "count", Unit::count},
                  {"bytes", "bytes", Unit::bytes},
                  {"gpu_ns", "time", Unit::ns},
                  {"bytes_per_s", "rate", Unit::bytes_per_s, kAlwaysShown, "bytes over their time"},
                  {"mean_bytes", "mean size", Unit::bytes, 60},
                  {"median_ns", "median", Unit::ns, 40},
                  {"max_ns", "longest", Unit::ns, 30}});
}

const SectionKind kMemcpySection{"memcpy", "copies by direction and memory, memsets",
                                 make_section<MemcpySection>, kMemcpySectionColumns};

}  // namespace rangefinder
