// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace_totals.h"

#include <algorithm>
#include <variant>

#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_reader.h"

namespace rangefinder {
TotalsFold::TotalsFold(TraceTotals& out, Selection* selection) : out_(out), selection_(selection) {
  if (selection != nullptr && selection->selects_rows()) out.in_range.emplace();
}

template <typename Use>
void TotalsFold::each_builder(Use&& use) {
  for (TotalsBuilder* const builder : builders_) {
    if (builder != nullptr) use(*builder);
  }
}

/// Counts of records, and the latest time.
template <typename Record>
void TotalsFold::count(const Record& record) {
  if constexpr (std::is_same_v<Record, KernelRecord>) ++out_.kernels;
  if constexpr (std::is_same_v<Record, MemcpyRecord>) out_.copies += record.count;
  if constexpr (std::is_same_v<Record, MemsetRecord>) ++out_.memsets;
  if constexpr (std::is_same_v<Record, GraphRecord>) ++out_.graphs;
  if constexpr (std::is_same_v<Record, RangeRecord>) ++out_.ranges;
  if constexpr (requires { record.work; }) {
    see(record.work.end_ns);
  } else if constexpr (requires { record.launch.host; }) {
    see(record.launch.host.end_ns);
  } else if constexpr (requires { record.end_ns; }) {
    see(record.end_ns);
  }
}

template <typename Record>
void TotalsFold::put(const Record& record, bool begins, bool in_range) {
  builders_ = {&out_.totals, out_.in_range && in_range ? &out_.in_range->totals : nullptr};
  if (begins) {
    // An exact line is not counted: its kernel, copy or memset also has its own line.
    count(record);
    each_builder([&record](TotalsBuilder& totals) { totals.add(record); });
  } else if constexpr (requires { out_.totals.add_rest(record); }) {
    each_builder([&record](TotalsBuilder& totals) { totals.add_rest(record); });
  }
}

/// Work of another iteration.
template <typename Record>
void TotalsFold::pass(const Record& record, bool in_range) {
  if constexpr (std::is_same_v<Record, KernelRecord> || std::is_same_v<Record, GraphRecord>) {
    builders_ = {&out_.totals, out_.in_range && in_range ? &out_.in_range->totals : nullptr};
    each_builder([&record](TotalsBuilder& totals) { totals.pass(record.work); });
  }
}

void TotalsFold::add_path(const PathRecord& path) {
  // Every segment repeats the path lines.
  if (out_.paths.count(path.id) != 0) return;
  each_builder([&path](TotalsBuilder& totals) { totals.add_path(path); });
  if (out_.in_range && selection_->in_range(path.id)) out_.in_range->paths.insert(path.id);
}

/// Names, and what is about the whole trace.
void TotalsFold::add_other(const Line& line) {
  builders_ = {&out_.totals, out_.in_range ? &out_.in_range->totals : nullptr};
  if (const auto* const header = std::get_if<Header>(&line); header && header->counters == "exact")
    each_builder([](TotalsBuilder& totals) { totals.expect_exact_lines(); });
  if (const auto* const path = std::get_if<PathRecord>(&line)) add_path(*path);
  if (const auto* const category = std::get_if<CategoryRecord>(&line);
      category && categories_.emplace(category->domain, category->id).second)
    each_builder([category](TotalsBuilder& totals) { totals.add_category(*category); });
  if (const auto* const set = std::get_if<MetricSetRecord>(&line))
    each_builder([set](TotalsBuilder& totals) { totals.add(*set); });
  if (const auto* const hold = std::get_if<HoldRecord>(&line))
    each_builder([hold](TotalsBuilder& totals) { totals.add(*hold); });
  if (const auto* const flush = std::get_if<FlushRecord>(&line)) see(flush->at_ns);
  if (const auto* const end = std::get_if<EndRecord>(&line)) see(end->at_ns);
  out_.add(line);
}

void TotalsFold::add(const Line& line) {
  std::visit(
      [&](const auto& record) {
        using Record = std::remove_cvref_t<decltype(record)>;
        if constexpr (std::is_same_v<Record, SamplesRecord>) {
          ++out_.samples_lines;
        } else if constexpr (requires { record.work; } || std::is_same_v<Record, ExactRecord> ||
                             std::is_same_v<Record, RangeRecord>) {
          put(record, true, true);
        } else {
          add_other(line);
        }
      },
      line);
}

void TotalsFold::add(const Chunk& chunk) {
  for (const Chunk::OtherLine& other : chunk.others) {
    if (const auto* const gap = std::get_if<GapRecord>(&other.line)) out_.after_last_work.add(*gap);
    const auto* const name = std::get_if<KernelNameRecord>(&other.line);
    has_pytorch_ = has_pytorch_ || (name != nullptr && name->from_library == "PyTorch");
    if (selection_ != nullptr) selection_->learn(other.line);
    add_other(other.line);
  }
  out_.samples_lines += chunk.counts.samples;
  const auto add = [this](auto& record) {
    const Part part = selection_ == nullptr ? Part{.selected = true} : selection_->select(record);
    if (part.selected) put(record, part.begins, part.in_range);
    if (part.other) pass(record, part.in_range);
  };
  const Columns columns = selection_ == nullptr ? kColumns : kColumns | selection_->needs();
  out_.after_last_work.add(chunk.counts.launches);
  chunk.exact(add);
  chunk.ranges(columns, add);
  chunk.work(columns, [&](auto& record) {
    out_.after_last_work.add(record.work);
    add(record);
  });
  if (!has_pytorch_) return;
  chunk.ranges(Column::range_times | Column::range_path,
               [this](const RangeRecord& range) { out_.after_last_work.add(range); });
}

void TotalsFold::finish() {
  out_.totals.settle();
  if (out_.in_range) out_.in_range->totals.settle();
}

std::vector<PathTotals> TraceTotals::rows() const {
  std::vector<PathTotals> rows = totals.paths();
  if (!in_range) return rows;
  std::erase_if(rows, [this](const PathTotals& row) { return !shows(row.path); });
  rows.emplace_back();
  return rows;
}

bool TraceTotals::shows(std::uint32_t path) const {
  return !in_range || in_range->paths.count(path) != 0;
}

TraceTotals load_totals(Trace& trace, Selection& selection) {
  TraceTotals out;
  TotalsFold fold(out, &selection);
  trace.each_chunk([&fold](const Chunk& chunk) { fold.add(chunk); });
  fold.finish();
  static_cast<TraceNames&>(out) = trace.names();
  return out;
}

}  // namespace rangefinder
