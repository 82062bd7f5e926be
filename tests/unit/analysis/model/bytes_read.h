// SPDX-License-Identifier: Apache-2.0
//
// Counts the passes of a query over the files of a trace, and the bytes that it reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "tests/catch.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder::test {

struct BytesRead {
  std::uint64_t bytes = 0;   ///< of segments; if there is more than one pass, of the last
  std::uint64_t passes = 0;  ///< over the segments
};

inline BytesRead bytes_read(const std::function<void()>& query) {
  read_progress.begin(0);
  const std::uint64_t before = read_progress.passes();
  query();
  return {read_progress.done(), read_progress.passes() - before};
}

/// One pass over each trace, of at most 1 % more than the files of the last one have.
inline void check_once(const std::filesystem::path& folder, const std::function<void()>& query,
                       std::uint64_t traces = 1) {
  const auto size = static_cast<double>(bytes_of(open_trace_folder(folder)));
  const BytesRead read = bytes_read(query);
  CHECK(read.passes == traces);
  CHECK(static_cast<double>(read.bytes) >= size);
  CHECK(static_cast<double>(read.bytes) <= 1.01 * size);
}

}  // namespace rangefinder::test
