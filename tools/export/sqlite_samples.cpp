// SPDX-License-Identifier: Apache-2.0
//
// SqliteRows of hardware samples: a row a sample, in bytes.
#include <algorithm>

#include "tools/export/sqlite_inserts.h"
#include "tools/export/sqlite_rows.h"
#include "tools/export/time_span.h"

namespace rangefinder {

void SqliteRows::add(const SamplingRecord& sampling) {
  if (sampling.interval_ns == 0) return;
  auto& collected = collected_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                  kSampleColumnNames[column]) != sampling.columns.end();
  }
}

void SqliteRows::add(const SamplesRecord& samples) {
  const auto& collected = collected_[samples.gpu];
  SqliteInsert& row = inserts_->samples;
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      row.bind(samples.gpu);
      row.bind(sample_start_ns(run, i));
      row.bind(sample_start_ns(run, i + 1));
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::uint64_t unit = is_byte_column(column) ? kSampleUnitBytes : 1;
        const auto& values = samples.columns[column];
        if (place < values.size()) {
          row.bind(values[place] * unit);
        } else if (collected[column]) {
          row.bind(0);  // a column that is left out was 0 in every sample
        } else {
          row.bind(std::nullopt);
        }
      }
      row.run();
    }
  }
}

}  // namespace rangefinder
