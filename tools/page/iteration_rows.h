// SPDX-License-Identifier: Apache-2.0
//
// Totals of each iteration of a program (iterations.h).
//
// GPU work belongs to the iteration that launched it; waits and launches belong to the iteration in which
// they start. Keeps only the first `limit` iterations. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/busy_times.h"
#include "profiler/attribution/holds.h"
#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

struct IterationRow {
  TimeNs start_ns = 0, host_ns = 0;
  TimeNs gpu_start_ns = kNoTime, gpu_end_ns = kNoTime;  ///< of all GPU work; kNoTime: none
  std::uint64_t kernels = 0, copies = 0, launches = 0, syncs = 0;
  std::uint64_t gpu_ns = 0;   ///< sum over kernels
  std::uint64_t sync_ns = 0;  ///< time for which the host waited
  std::uint64_t copy_bytes = 0;
  std::uint64_t exact_launches = 0;  ///< launches with exact bytes
  std::uint64_t dram_bytes = 0, l2_bytes = 0;
};

class IterationRows {
 public:
  /// Those of `report --section iterations`, and of values that only these rows have.
  [[nodiscard]] static std::vector<TableColumn> columns();

  /// `iterations`, `holds`: of the whole trace. Both must outlive this.
  IterationRows(const Iterations& iterations, const Holds& holds, std::size_t limit);

  static constexpr Columns kColumns =
      kWorkOfIteration | Column::copies | Column::launch_times | Column::exact | Column::syncs;
  void add(const SelectedRows& rows);

  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  /// {path, columns}; null if the trace has no ranges. The busy time of a row is the union of its GPU time,
  /// as in `report --section iterations`. Adds the number of iterations without a row to `omitted`.
  [[nodiscard]] nlohmann::ordered_json table(nlohmann::ordered_json& omitted) const;

 private:
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset) { static_cast<void>(add_work(memset.work)); }
  void add(const GraphRecord& graph) { add_time(graph.work); }
  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);
  [[nodiscard]] IterationRow* at(std::size_t index);
  /// Time in which the profiler held the row's thread; part of `host_ns`.
  [[nodiscard]] std::uint64_t held_ns(std::size_t row) const noexcept;
  /// Adds the work to the span of its row; nullptr: no row.
  [[nodiscard]] IterationRow* add_work(const GpuWork& work);
  /// Adds it to GPU and busy time too.
  IterationRow* add_time(const GpuWork& work);

  const Iterations& iterations_;
  const Holds& holds_;
  std::vector<IterationRow> rows_;
  BusyTimes busy_;
};

}  // namespace rangefinder
