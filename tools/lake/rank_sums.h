// SPDX-License-Identifier: Apache-2.0
//
// The sums of one process: small tables that answer most questions about many ranks without its events.
//
//   WholeTrace ─▶ RankSums ─▶ rank_module: as `report --section modules`, with what the host did
//                         ├─▶ rank_kernel: by module and name
//                         ├─▶ collectives: with their place among those of a communicator
//                         ├─▶ iterations: as `report --section iterations`
//                         └─▶ findings: of summary.json, where `run` and `finalize` put them
//
// put_row(out, row) passes the values of a row to the columns of its table. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/iteration_names.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/analysis/ranks/collective_order.h"
#include "tools/analysis/ranks/rank_work.h"
#include "tools/lake/lake_texts.h"

namespace rangefinder {

/// Inclusive sums of a module; `costs`: its own, of the iterations that count.
struct ModuleSums {
  const PathTotals& row;
  const RowBytes& bytes;
  std::string_view module, folded, class_source, call_source;
  std::array<double, kRankCosts> costs{};
  std::uint64_t iterations = 0;
};

struct KernelSums {
  std::string_view module, kernel, from_library;
  std::uint64_t kernels = 0, gpu_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
};

struct CollectiveRow {
  const Collective& one;
  std::uint64_t communicator = 0, nth = 0;
  std::string_view operation, module;
};

struct IterationRow {
  std::uint64_t number = 0;
  TimeNs start_ns = 0;
  const IterationTotals& totals;
  bool counts = false;
};

struct FindingRow {
  std::string_view id, severity, title, where, kernel, why, next_step;
  std::uint64_t saving_ns = 0;
  double share = 0;
};

template <typename Out>
void put_row(Out& out, const ModuleSums& r) {
  static constexpr std::array<std::string_view, kRankCosts> kCosts{
      "host_code_ns", "launching_ns",   "copy_calls_ns", "memory_ns",
      "waiting_ns",   "own_kernels_ns", "own_copies_ns"};
  const PathTotals& row = r.row;
  if (row.path != 0 || Out::kAll) {
    out.put("module", r.module);
    out.put("folded", r.folded);
    out.put("depth", row.depth);
    out.put("calls", row.calls);
  }
  out.put("host_ns", row.host_ns);
  out.put("kernels", row.kernels);
  out.put("gpu_ns", row.gpu_ns);
  out.put("gpu_ns_exclusive", row.gpu_ns_exclusive);
  out.put("gpu_busy_ns", row.gpu_busy_ns);
  static constexpr std::array<std::string_view, 4> kSources{"", "exact", "sampled", "gpm"};
  const bool parts = r.bytes.source == RowBytes::Source::exact || r.bytes.source == RowBytes::Source::sampled;
  if (parts || Out::kAll) {
    out.put("dram_read_bytes", r.bytes.read);
    out.put("dram_write_bytes", r.bytes.write);
    out.put("l2_bytes", r.bytes.l2);
    out.put("bytes_source", kSources[static_cast<std::size_t>(r.bytes.source)]);
  }
  for (std::size_t i = 0; i < kRankCosts; ++i) out.put(kCosts[i], r.costs[i]);
  out.put("iterations", r.iterations);
  if (!r.class_source.empty() || Out::kAll) out.put("class_source", r.class_source);
  if (!r.call_source.empty() || Out::kAll) out.put("call_source", r.call_source);
}

template <typename Out>
void put_row(Out& out, const KernelSums& r) {
  if (!r.module.empty() || Out::kAll) out.put("module", r.module);
  out.put("kernel", r.kernel);
  out.put("library", r.from_library);
  out.put("kernels", r.kernels);
  out.put("gpu_ns", r.gpu_ns);
  out.put("min_ns", r.min_ns);
  out.put("max_ns", r.max_ns);
}

template <typename Out>
void put_row(Out& out, const CollectiveRow& r) {
  if (r.communicator != 0 || Out::kAll) out.put("communicator", r.communicator);
  out.put("nth", r.nth);
  out.put("operation", r.operation);
  out.put("needs_all", needs_all(r.one));
  out.put("gpu", r.one.gpu);
  out.put("stream", r.one.stream);
  out.put("start_ns", r.one.start_ns);
  out.put("end_ns", r.one.end_ns);
  if (r.one.iteration != SIZE_MAX || Out::kAll) out.put("iteration", std::uint64_t{r.one.iteration});
  if (!r.module.empty() || Out::kAll) out.put("module", r.module);
}

template <typename Out>
void put_row(Out& out, const IterationRow& r) {
  const IterationTotals& t = r.totals;
  out.put("iteration", r.number);
  out.put("start_ns", r.start_ns);
  if (t.wall_ns || Out::kAll) out.put("wall_ns", t.wall_ns.value_or(0));
  out.put("counts", r.counts);
  out.put("host_ns", t.host_ns);
  out.put("gpu_ns", t.gpu_ns);
  out.put("gpu_busy_ns", t.busy_ns);
  out.put("sync_ns", t.sync_ns);
  out.put("held_ns", t.held_ns);
  out.put("kernels", t.kernels);
  out.put("launches", t.launches);
  out.put("copy_bytes", t.copy_bytes);
  if (t.sm_mhz || Out::kAll) out.put("sm_mhz", t.sm_mhz.value_or(0));
  if (t.power_w || Out::kAll) out.put("power_w", t.power_w.value_or(0));
}

template <typename Out>
void put_row(Out& out, const FindingRow& r) {
  out.put("finding", r.id);
  out.put("severity", r.severity);
  out.put("title", r.title);
  if (!r.where.empty() || Out::kAll) out.put("module", r.where);
  if (!r.kernel.empty() || Out::kAll) out.put("kernel", r.kernel);
  if (r.saving_ns != 0 || Out::kAll) out.put("saving_ns", r.saving_ns);
  if (r.share != 0 || Out::kAll) out.put("share", r.share);
  out.put("why", r.why);
  out.put("next_step", r.next_step);
}

class RankSums {
 public:
  /// Reads the rows of the trace once. All must outlive this.
  RankSums(WholeTrace& trace, const LakeTexts& texts);

  /// see(row) for the rows of each table.
  template <typename See>
  void each(See&& see) {
    each_module(see);
    for (const auto& [place, kernel] : kernels_) see(kernel);
    for (const CollectiveLane& lane : lanes_of(work_.communication())) {
      std::uint64_t nth = 0;
      for (const Collective* const one : lane.order)
        see(CollectiveRow{*one, lane.communicator, nth++, texts_.valid(one->operation),
                          texts_.module(one->path)});
    }
    const IterationLog& log = work_.iterations();
    for (std::size_t i = 0; i < log.rows().size(); ++i) {
      if (log.rows()[i].seen)
        see(IterationRow{i, log.iterations().instances[i].start_ns, log.rows()[i], log.counts(i)});
    }
    for (const FindingRow& row : findings_) see(row);
  }

 private:
  template <typename See>
  void each_module(See& see) {
    const RowValues& values = trace_.values();
    for (const PathTotals& row : trace_.totals().rows()) {
      const RowBytes bytes = values.bytes(row);
      const SourceLines& source = trace_.totals().source_of(row.path);
      const std::string_view module = texts_.module(row.path);
      ModuleSums sums{row,
                      bytes,
                      module,
                      texts_.valid(numbers_folded(module)),
                      texts_.valid(source.of_class),
                      texts_.valid(source.of_call)};
      set_costs(sums);
      see(sums);
    }
  }
  void add_kernels(const SelectedRows& rows);
  void set_costs(ModuleSums& sums) const;
  void read_findings();

  WholeTrace& trace_;
  const LakeTexts& texts_;
  RankWork work_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, KernelSums> kernels_;  // by path and name
  std::vector<FindingRow> findings_;
};

}  // namespace rangefinder
