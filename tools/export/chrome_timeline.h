// SPDX-License-Identifier: Apache-2.0
//
// A trace as events of the Chrome format, for the perfetto and kineto exports.
//
//   lines ─▶ write_chrome_trace() ─┬─▶ ChromeGpu      kernels, copies, memsets, their bytes, their modules
//                                  ├─▶ ChromeHost     launches and other calls, flows to the GPU, overhead
//                                  ├─▶ ChromeNvtx     ranges and marks
//                                  ├─▶ ChromeStacks   functions on the host's stacks
//                                  ├─▶ ChromeSamples  DRAM and L2 bandwidth as counters
//                                  └─▶ ChromeConditions  clocks, power, memory as counters
//
// Categories, names and arguments follow PyTorch's libkineto where it has them. Events are in the order of
// the trace's lines; readers sort by time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/export/chrome_events.h"
#include "tools/export/chrome_rows.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

/// The ids of a trace's process in the timeline.
struct ChromeProcess {
  std::uint32_t host_pid = 0;
  std::uint32_t first_gpu_pid = 0;  ///< GPU n is process first_gpu_pid + n
  std::uint64_t first_flow_id = 0;  ///< added to correlation ids
};

struct ChromeOptions {
  /// Ranges with this name or path are renamed to ProfilerStep#0, #1, …; empty: none.
  std::string step_range;
};

/// Caches the texts of a trace as JSON strings.
class ChromeNames {
 public:
  explicit ChromeNames(const TraceOutline& trace) : trace_(trace) {}
  [[nodiscard]] const std::string& kernel(std::uint32_t name);
  /// The whole path; "" for 0.
  [[nodiscard]] const std::string& path(std::uint32_t path);
  [[nodiscard]] const std::string& own(std::uint32_t path);
  [[nodiscard]] const std::string& text(std::uint32_t name);
  [[nodiscard]] const std::string& function(std::uint32_t frame);
  /// Name of an API: "cuLaunchKernel". `api` must outlive this.
  [[nodiscard]] const std::string& api(std::string_view api);

 private:
  const TraceOutline& trace_;
  std::unordered_map<std::uint32_t, std::string> kernels_, paths_, own_, texts_, functions_;
  std::unordered_map<std::string_view, std::string> apis_;
};

/// The state shared by the parts of a timeline.
struct ChromeContext {
  const TraceOutline& trace;
  const ChromeProcess process;
  const ChromeOptions& options;
  ChromeEvents& events;
  ChromeRows& rows;
  ChromeNames names;

  [[nodiscard]] ChromeRow host_row(std::uint32_t thread) const {
    return rows.thread(process.host_pid, thread, trace.thread_name(thread));
  }
  [[nodiscard]] std::uint32_t gpu_pid(std::uint32_t gpu) const noexcept {
    return process.first_gpu_pid + gpu;
  }
  /// True if the trace has both the launch and GPU work of this id; only then there is a flow.
  [[nodiscard]] bool has_flow(std::uint32_t correlation) const {
    return trace.launched.contains(correlation) && trace.worked.contains(correlation);
  }
};

/// Writes the names of the processes, then all lines of the trace. Several traces of one file share `events`
/// and `rows`.
void write_chrome_trace(const TraceOutline& trace, const ChromeProcess& process, const ChromeOptions& options,
                        ChromeEvents& events, ChromeRows& rows, std::uint32_t sort_index);

}  // namespace rangefinder
