// SPDX-License-Identifier: Apache-2.0
//
// What a trace says once: its process, GPUs, paths and names, times in which the profiler held threads,
// losses, and how it ended.
//
//   lines that are no rows ─▶ add() ─▶ TraceNames ─▶ every query and table
//
// Every segment repeats the lines that define names: the first one counts. Memory grows with paths and names.
// One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/holds.h"
#include "profiler/base/communication_kernel.h"
#include "profiler/base/name_pattern.h"
#include "schema/read_line.h"
#include "tools/analysis/model/kernel_origins.h"
#include "tools/analysis/model/module_sources.h"
#include "tools/analysis/model/read_ledger.h"
#include "tools/analysis/model/stack_names.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

struct TraceNames {
  struct Gap {
    TimeNs start_ns = 0, end_ns = 0;
    std::string cause;
  };

  TraceFolder files;
  Header header;
  std::vector<GpuRecord> gpus;
  std::unordered_map<std::uint32_t, PathRecord> paths;
  std::unordered_map<std::uint32_t, SourceLines> sources;  ///< of modules, by path; few paths have them
  KernelOrigins origins;
  std::unordered_map<std::uint32_t, std::string> domains;  ///< names of NVTX domains
  std::unordered_map<std::uint32_t, KernelNameRecord> kernel_names;
  /// Those that communicate, by their names and files.communication.
  std::unordered_map<std::uint32_t, CommunicationKernel> communication;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs;
  std::unordered_map<std::uint32_t, ContextRecord> contexts;
  std::map<std::pair<std::uint32_t, std::uint32_t>, StreamRecord> streams;  ///< by context and stream
  std::map<std::uint32_t, std::string> threads;                             ///< names
  StackNames stacks;                                                        ///< of samples of host threads
  /// Host time without it comes from here alone: holds.net_ns(host).
  Holds holds;
  std::vector<Gap> gaps;                                 ///< another tool had CUPTI; in order of time
  std::set<std::uint32_t> sample_intervals_ns;           ///< the intervals in use
  std::string sampling_ended;                            ///< why, before the recording did; empty: it did not
  std::optional<EndRecord> end;                          ///< absent: the program was killed
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< from `end`, otherwise from the last heartbeat
  ReadSummary read;
  bool has_gpm = false;      ///< NVML's GPM counted DRAM bytes, from some time on
  bool event_waits = false;  ///< a stream waited for an event
  std::string first_broken;  ///< "file:line: what is wrong" of the first broken line

  /// With shown paths. Records of events have no effect.
  void add(const Line& line);

  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// The innermost range's own name; "(unknown)" for a path without a path line.
  [[nodiscard]] const std::string& own_name(std::uint32_t path) const;
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t path) const;
  /// "(unknown)" for an id without a line.
  [[nodiscard]] const KernelNameRecord& kernel_name(std::uint32_t id) const;
  /// Whether kernels of this name communicate: NCCL's and the like (communication_kernel.h).
  [[nodiscard]] bool communicates(std::uint32_t kernel_name) const {
    return communication.contains(kernel_name);
  }
  /// Unknown for most paths.
  [[nodiscard]] const SourceLines& source_of(std::uint32_t path) const;
  /// nullptr: the trace does not describe it.
  [[nodiscard]] const GpuRecord* gpu(std::uint32_t id) const;

 private:
  void add_kernel_name(const KernelNameRecord& name);

  std::optional<NamePattern> communication_pattern_;
  bool has_header_ = false;
};

}  // namespace rangefinder
