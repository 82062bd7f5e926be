// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/section_kinds.h"

#include <algorithm>

#include "tools/analysis/communication/communication_log.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/overview/opening.h"
#include "tools/analysis/queries/factories.h"
#include "tools/analysis/queries/table_sections.h"
#include "tools/analysis/tables/iteration_log.h"

namespace rangefinder {

const std::vector<SectionKind>& section_kinds() {
  static const std::vector<SectionKind> kKinds{
      {"overview", "one iteration, where its time went, findings, the upper modules", make_overview_section,
       true, OpeningReader::kColumns | kModulesColumns, true},
      {"modules", "time and bytes of every NVTX range, as a tree", make_modules_section, true,
       kModulesColumns},
      {"layers", "forward and backward pass of every module in one row", make_layers_section, true},
      {"kernels", "time and bytes by kernel name", make_kernels_section, true, kKernelsColumns},
      {"kernel", "all data of one kernel, named by --kernel", make_kernel_section, true, kKernelColumns},
      {"metrics", "occupancy, throughputs, hit rates, pipes and stalls of every module and kernel",
       make_metrics_section, true, kMetricsColumns},
      {"roofline", "FLOP per byte, attained rate and roof of every module", make_roofline_section, true},
      {"findings", "what is slow and why, with the evidence and the next step", make_findings_section, true,
       FindingRules::kColumns, true},
      {"memcpy", "copies by direction and memory, memsets", make_memcpy_section, false, kMemcpyColumns},
      {"memory", "peak and live bytes by path, memory that was never freed", make_memory_section, false,
       kMemoryColumns, true},
      {"launches", "host cost of launches, and how long they wait for the GPU", make_launches_section, false,
       kLaunchesColumns},
      {"sync", "where host threads waited for a GPU", make_sync_section, false, kSyncColumns},
      {"streams", "work of each stream, and waits of one stream for another", make_streams_section, false,
       kStreamsColumns},
      {"gpu", "share of the time that each GPU computed, copied, did both or was idle", make_gpu_section,
       false, kGpuColumns},
      {"communication", "operations of NCCL, NVSHMEM and MPI with their bytes and exposed time",
       make_communication_section, false, CommunicationLog::kColumns},
      {"idle", "idle time of each GPU, by the host's range at the time", make_idle_section, false,
       kIdleColumns | kGpuColumns},
      {"iterations", "time of each iteration, outliers marked", make_iterations_section, false,
       IterationLog::kColumns, true},
      {"graphs", "executable graphs and captures", make_graphs_section, false, kGraphsColumns},
      {"monitor", "rates of a trace made with --monitor, with their errors", make_monitor_section},
      {"overhead", "time that CUDA, CUPTI and recording took", make_overhead_section, false,
       Column::overheads},
      {"loss", "events that are missing from the trace, by cause", make_loss_section, false, Columns()},
  };
  return kKinds;
}

const SectionKind* find_section(std::string_view name, bool check) {
  static const SectionKind kCheck{"graphs",
                                  "calls that prevent the capture of CUDA graphs",
                                  make_capture_check_section,
                                  false,
                                  FindingRules::kColumns,
                                  true};
  if (check && name == kCheck.name) return &kCheck;
  const auto& kinds = section_kinds();
  const auto at =
      std::find_if(kinds.begin(), kinds.end(), [name](const SectionKind& kind) { return kind.name == name; });
  return at == kinds.end() ? nullptr : &*at;
}

}  // namespace rangefinder
