// SPDX-License-Identifier: Apache-2.0
//
// The columns of a trace, in groups. A query declares the groups that it reads, and the loader stores no
// others.
//
//   constexpr Columns kColumns = Column::work_times | Column::work_path;
#pragma once

#include <cstdint>

namespace rangefinder {

enum class Column : std::uint64_t {
  // GPU work: kernels, copies, memsets, whole graphs. Its kind is always there.
  work_times = 1 << 0,
  work_place = 1 << 1,  ///< GPU, context, stream
  work_correlation = 1 << 2,
  work_path = 1 << 3,
  work_range = 1 << 4,
  work_graph = 1 << 5,  ///< graph, node, captured
  work_name = 1 << 6,   ///< of kernels
  work_config = 1 << 7,
  copies = 1 << 8,  ///< kinds and bytes of copies and memsets
  // Launches, with and without counters.
  launch_times = 1 << 9,
  launch_thread = 1 << 10,
  launch_path = 1 << 11,
  launch_range = 1 << 12,
  launch_call = 1 << 13,  ///< driver function, result
  launch_correlation = 1 << 14,
  launch_context = 1 << 15,
  exact = 1 << 16,  ///< counter values of launches and counter ranges
  // NVTX ranges.
  range_times = 1 << 17,
  range_thread = 1 << 18,
  range_path = 1 << 19,  ///< path, name of a start/end range
  range_id = 1 << 20,
  range_payload = 1 << 21,  ///< domain, category, payload
  // Other kinds, each as a whole.
  syncs = 1 << 22,
  allocs = 1 << 23,
  events = 1 << 24,
  captures = 1 << 25,
  overheads = 1 << 26,
  samples = 1 << 27,
  marks = 1 << 28,  ///< without their payloads, which no query reads
  order = 1 << 29,  ///< lines of GPU work and samples, to read them in the order of the file
};

/// A set of columns.
class Columns {
 public:
  constexpr Columns() = default;
  constexpr Columns(Column column)
      : bits_(static_cast<std::uint64_t>(column)) {}  // NOLINT: converts on purpose

  [[nodiscard]] constexpr bool has(Columns columns) const { return (bits_ & columns.bits_) == columns.bits_; }
  [[nodiscard]] constexpr bool any_of(Columns columns) const { return (bits_ & columns.bits_) != 0; }
  friend constexpr Columns operator|(Columns a, Columns b) { return Columns(a.bits_ | b.bits_); }
  friend constexpr Columns operator&(Columns a, Columns b) { return Columns(a.bits_ & b.bits_); }
  constexpr Columns& operator|=(Columns other) { return *this = *this | other; }

 private:
  constexpr explicit Columns(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_ = 0;
};

constexpr Columns operator|(Column a, Column b) {
  return Columns(a) | Columns(b);
}

inline constexpr Columns kAllWork = Column::work_times | Column::work_place | Column::work_correlation |
                                    Column::work_path | Column::work_range | Column::work_graph |
                                    Column::work_name | Column::work_config | Column::copies;
inline constexpr Columns kAllLaunch = Column::launch_times | Column::launch_thread | Column::launch_path |
                                      Column::launch_range | Column::launch_call |
                                      Column::launch_correlation | Column::launch_context;
inline constexpr Columns kAllRange = Column::range_times | Column::range_thread | Column::range_path |
                                     Column::range_id | Column::range_payload;
/// When the driver calls of host threads were made.
inline constexpr Columns kHostCallColumns =
    Column::syncs | Column::allocs | Column::events | Column::captures | Column::launch_times;

}  // namespace rangefinder
