// SPDX-License-Identifier: Apache-2.0
//
// Exact lines of made launches: the counters of each launch, or of all launches of a module's call.
//
//   launch(record, work) ─▶ its exact line, in its own counter range, or in that of its NVTX range
//   end_range()          ─▶ the line of the counter range, if launches share one
#pragma once

#include <cstdint>
#include <optional>

#include "schema/record.h"
#include "tests/bench/made_counters.h"

namespace rangefinder::bench {

/// What a launch put on the GPU.
struct MadeWork {
  WorkKind kind = WorkKind::kernel;
  std::uint32_t name = 0, config = 0;  ///< kernel only
  std::uint64_t bytes = 0;             ///< copy only: as requested
  std::uint32_t bytes_path = 0;        ///< graph only: in which all of its nodes were captured
  TimeNs start_ns = 0, end_ns = 0;
  MadeBytes moved{};
};

class MadeExact {
 public:
  /// `at_range`: launches in one NVTX range share a counter range.
  explicit MadeExact(bool at_range) : at_range_(at_range) {}

  /// Whether a launch in this NVTX range shares a counter range; else its thread waits for its work.
  [[nodiscard]] bool shares(std::uint64_t range) const noexcept { return at_range_ && range != 0; }
  [[nodiscard]] ExactRecord launch(const LaunchRecord& launch, const MadeWork& work);
  /// Call when an NVTX range ends. nullopt: nothing was launched in it.
  [[nodiscard]] std::optional<ExactRecord> end_range();

 private:
  void share(ExactRecord& exact, const MadeWork& work);

  bool at_range_;
  std::uint64_t launches_ = 0;
  std::optional<ExactRecord> open_;  // the shared counter range
  MadeWork open_work_;               // all work in it
};

}  // namespace rangefinder::bench
