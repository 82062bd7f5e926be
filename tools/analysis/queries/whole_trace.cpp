// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/whole_trace.h"

#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder {

WholeTrace::WholeTrace(const TraceFolder& files, Columns columns, const ReadLimits& limits)
    : rows_(files, {columns, SampledTrace::kColumns | TotalsFold::kColumns,
                    kIterationColumns | TotalsFold::kColumns, Keep::yes, limits}) {
  TotalsFold fold(totals_, &all_);
  rows_.on_reading([&fold](const Chunk& chunk) { fold.add(chunk); });
  iterations_ = find_iterations(rows_, files.iteration_range);
  rows_.on_reading(nullptr);
  fold.finish();
  static_cast<TraceNames&>(totals_) = rows_.names();
}

void WholeTrace::each(const std::function<void(const SelectedRows&)>& see) {
  rows_.each_chunk([&](const Chunk& chunk) { see({chunk, totals_, all_, true}); });
}

const RowValues& WholeTrace::values() {
  if (!values_) values_.emplace(load_row_values(totals_, rows_, all_));
  return *values_;
}

const TracePart* WholeTrace::measured_from(std::size_t first, const SeeSamples& see) {
  if (totals_.header.monitor_period_ns != 0) return nullptr;
  if (part_ == nullptr || part_first_ != first || see)
    part_ = part_from(first, iterations_, rows_, totals_, values_, see);
  part_first_ = first;
  return part_.get();
}

}  // namespace rangefinder
