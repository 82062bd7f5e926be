// SPDX-License-Identifier: Apache-2.0
//
// A trace as events of the Chrome format: what the perfetto and kineto exports share.
//
//   lines ─▶ ChromeTimeline ─┬─▶ ChromeGpu      kernels, copies, memsets, their bytes, their modules
//                            ├─▶ ChromeHost     launches and other calls, flows to the GPU, overhead
//                            ├─▶ ChromeNvtx     ranges and marks
//                            └─▶ ChromeSamples  DRAM and L2 bandwidth as counters
//
// Categories, names and arguments are those that PyTorch's libkineto writes; what it has no word for
// has our own. Events come in the order of the trace's lines; readers sort by time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/export/chrome_events.h"
#include "tools/export/chrome_rows.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

/// What a process of the trace is called in the timeline.
struct ChromeProcess {
  std::uint32_t host_pid = 0;
  std::uint32_t first_gpu_pid = 0;  ///< GPU n is process first_gpu_pid + n
  std::uint64_t first_flow_id = 0;  ///< added to correlation ids
};

struct ChromeOptions {
  /// Ranges of this name or path are called ProfilerStep#0, #1, …; empty: none.
  std::string step_range;
};

/// Texts of a trace as JSON strings, made once each.
class ChromeNames {
 public:
  explicit ChromeNames(const TraceOutline& trace) : trace_(trace) {}
  [[nodiscard]] const std::string& kernel(std::uint32_t name);
  /// The whole path; "" for 0.
  [[nodiscard]] const std::string& path(std::uint32_t path);
  [[nodiscard]] const std::string& own(std::uint32_t path);
  [[nodiscard]] const std::string& text(std::uint32_t name);
  /// Of an API: "cuLaunchKernel". `api` must live as long as this.
  [[nodiscard]] const std::string& api(std::string_view api);

 private:
  const TraceOutline& trace_;
  std::unordered_map<std::uint32_t, std::string> kernels_, paths_, own_, texts_;
  std::unordered_map<std::string_view, std::string> apis_;
};

/// What the parts of a timeline write with.
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
  /// Whether a launch and GPU work of this id are in the trace: only then there is an arrow.
  [[nodiscard]] bool has_flow(std::uint32_t correlation) const {
    return trace.launched.contains(correlation) && trace.worked.contains(correlation);
  }
};

/// One trace. `events` and what it writes to are shared by several in one file.
class ChromeTimeline final : public TraceVisitor {
 public:
  ChromeTimeline(const TraceOutline& trace, const ChromeProcess& process, const ChromeOptions& options,
                 ChromeEvents& events, ChromeRows& rows);
  ~ChromeTimeline() override;

  void line(const Line& line, const LinePlace& place) override;
  void broken(std::string_view error, const LinePlace& place) override;
  /// What was held back: call once, behind the last line.
  void finish();

 private:
  struct Parts;
  ChromeContext context_;
  std::unique_ptr<Parts> parts_;
};

/// Names of the processes, then all lines of the trace.
void write_chrome_trace(const TraceOutline& trace, const ChromeProcess& process, const ChromeOptions& options,
                        ChromeEvents& events, ChromeRows& rows, std::uint32_t sort_index);

}  // namespace rangefinder
