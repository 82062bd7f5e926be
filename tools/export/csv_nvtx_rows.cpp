// SPDX-License-Identifier: Apache-2.0
//
// CsvRows of NVTX and of hardware samples.
#include <algorithm>

#include "schema/key_names.h"
#include "tools/export/csv_rows.h"
#include "tools/export/nvtx_payload.h"
#include "tools/export/time_span.h"

namespace rangefinder {

void CsvRows::extras(CsvTable& row, const NvtxExtras& extras, std::uint32_t domain) {
  const auto category = trace_.categories.find({domain, extras.category});
  if (extras.category == 0) {
    row.empty();
  } else if (category == trace_.categories.end()) {
    row.number(extras.category);
  } else {
    row.text(category->second);
  }
  row.field(color_text(extras.color)).field(payload_text(extras)).field(to_text(extras.payload_type));
}

void CsvRows::add(const RangeRecord& range) {
  CsvTable& out = row(CsvTableId::ranges).number(range.id);
  times(out, range.start_ns, range.end_ns).field(range.name == 0 ? "push_pop" : "start_end");
  out.number(range.thread).nonzero(range.end_thread).text(trace_.domain_name(range.domain));
  out.text(range.name == 0 ? trace_.own_name(range.path) : trace_.text(range.name));
  out.field(module(range.path));
  extras(out, range.extras, range.domain);
  out.end_row();
}

void CsvRows::add(const MarkRecord& mark) {
  CsvTable& out = row(CsvTableId::marks).time(mark.at_ns).number(mark.thread);
  out.text(trace_.domain_name(mark.domain)).text(trace_.text(mark.name));
  out.field(module(mark.path)).nonzero(mark.range);
  extras(out, mark.extras, mark.domain);
  out.end_row();
}

void CsvRows::add(const SamplingRecord& sampling) {
  if (sampling.interval_ns == 0) return;
  auto& collected = collected_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                  kSampleColumnNames[column]) != sampling.columns.end();
  }
}

void CsvRows::add(const SamplesRecord& samples) {
  const auto& collected = collected_[samples.gpu];
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      CsvTable& out = row(CsvTableId::samples).number(samples.gpu);
      out.number(sample_start_ns(run, i));
      out.number(sample_start_ns(run, i + 1));
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::uint64_t unit = is_byte_column(column) ? kSampleUnitBytes : 1;
        const auto& values = samples.columns[column];
        if (place < values.size()) {
          out.number(values[place] * unit);
        } else if (collected[column]) {
          out.number(0);  // a column that is left out was 0 in every sample
        } else {
          out.empty();
        }
      }
      out.end_row();
    }
  }
}

}  // namespace rangefinder
