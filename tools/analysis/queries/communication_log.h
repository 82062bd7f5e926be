// SPDX-License-Identifier: Apache-2.0
//
// Communication of a program: operations, bytes, and overlap with other GPU work.
//
//   NVTX domains NCCL, MPI ─▶ calls: operation, bytes, communicator ┐
//   kernels that communicate, copies between GPUs ──────────────────┴▶ operations(), collectives()
//   all kernels ─▶ GpuTimeline ─▶ communication without other kernels (exposed) and with them (overlapped)
//
// A kernel belongs to the call that launched it, in a graph to the call that was captured. Calls between
// ncclGroupStart and ncclGroupEnd belong to the group that launches them. Without NVTX (NCCL_NVTX_DISABLE,
// other libraries) the kernel's name gives the operation; bytes and communicator are unknown. A captured call
// moves its bytes at each replay. Keeps under 120 bytes per call and per communication kernel, and the data
// of gpu_timeline.h for all other kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/trace_names.h"
#include "tools/analysis/queries/extended_payload.h"
#include "tools/analysis/queries/gpu_timeline.h"

namespace rangefinder {

/// A call that sends, receives or waits. Names live as long as the log.
struct CommunicationCall {
  std::string_view from_library;           ///< "NCCL", "MPI"
  const std::string* operation = nullptr;  ///< "AllReduce", "MPI_Send"
  const std::string* reduction = nullptr;  ///< "Sum"; nullptr: none, or unknown
  std::uint64_t range = 0;
  std::uint32_t thread = 0;
  TimeNs start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> bytes;
  std::uint64_t communicator = 0;  ///< NCCL's hash, the same on all ranks; 0: unknown
};

/// One kernel that communicates.
struct Collective {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t gpu = 0;
  std::string operation;           ///< several operations of one group are joined by "+"
  std::uint64_t communicator = 0;  ///< 0: unknown
  std::uint32_t context = 0, stream = 0;
  std::uint64_t threads = 0;  ///< of the grid
  std::uint32_t launch = 0;   ///< correlation of the graph launch; 0: in no graph
  std::uint64_t node = 0;     ///< number in the graph
  std::uint32_t path = 0;
  std::size_t iteration = SIZE_MAX;  ///< SIZE_MAX: none, or not known
};

/// All calls and kernels of one operation.
struct OperationTotals {
  std::uint64_t calls = 0, kernels = 0, copies = 0;
  std::uint64_t bytes = 0;  ///< of calls, each as often as it ran, and of copies
  std::uint64_t calls_with_bytes = 0;
  std::uint64_t gpu_ns = 0, host_ns = 0;
};
struct OperationKey {
  std::string_view from_library;
  std::string operation, reduction;
  auto operator<=>(const OperationKey&) const = default;
};

/// Of one GPU. Overlapping kernels count once.
struct CommunicationOverlap {
  std::uint64_t span_ns = 0;           ///< from the first kernel to the last
  std::uint64_t compute_ns = 0;        ///< some other kernel ran
  std::uint64_t communication_ns = 0;  ///< some communication kernel ran
  std::uint64_t exposed_ns = 0;        ///< a communication kernel ran, and no other kernel
};

class SelectedRows;

/// Not thread-safe.
class CommunicationLog {
 public:
  static constexpr Columns kColumns = kAllRange | kAllWork;
  void add(const SelectedRows& rows);
  // What add() passes of a chunk: its lines that are no rows, and its rows.
  void add_names(const Line& line);
  void add_range(const RangeRecord& range);
  /// `iteration`: to which it belongs; SIZE_MAX: none, or not known.
  void add_kernel(const KernelRecord& kernel, const TraceNames& names, std::size_t iteration = SIZE_MAX);
  void add_copy(const MemcpyRecord& copy);
  /// Call once, after the last chunk.
  void finish();
  [[nodiscard]] static bool communicates(const MemcpyRecord& copy) noexcept {
    return copy.kind == CopyKind::PtoP;
  }
  [[nodiscard]] const std::map<OperationKey, OperationTotals>& operations() const { return operations_; }
  /// In order of start.
  [[nodiscard]] const std::vector<Collective>& collectives() const { return collectives_; }
  /// By GPU; only GPUs with communication.
  [[nodiscard]] const std::map<std::uint32_t, CommunicationOverlap>& overlaps() const { return overlaps_; }

 private:
  /// A range of the domain NCCL that opens or closes a group.
  struct GroupEdge {
    std::uint64_t range;
    std::uint32_t thread;
    TimeNs start_ns;
    bool opens;
  };
  struct Kernel {
    Collective one;  // without what its calls tell
    std::uint64_t range;
    std::string_view from_library;
  };
  void add_nccl_range(const RangeRecord& range, const std::string& name);
  void add_span(const GpuSpan& span);
  const std::string* keep(std::string text) { return &*texts_.insert(std::move(text)).first; }
  void fill_extras(CommunicationCall& call, const RangeRecord& range) const;
  void join_groups();
  void join_kernels();
  void count_replays();
  void count_calls();

  std::unordered_map<std::uint32_t, std::string_view> domains_;  // their libraries
  std::unordered_map<std::uint32_t, std::string> paths_;  // in these domains: name of the innermost range
  ExtendedPayloads payloads_;
  std::set<std::string> texts_;
  std::vector<CommunicationCall> calls_;
  std::vector<GroupEdge> edges_;
  std::vector<RangeRecord> undecoded_;  // their schema has not come yet
  bool finishing_ = false;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> calls_of_range_;  // indices into calls_
  std::vector<std::uint64_t> runs_;                                             // of each call
  std::map<OperationKey, OperationTotals> operations_;
  std::vector<Collective> collectives_;
  std::map<std::uint32_t, CommunicationOverlap> overlaps_;
  GpuTimeline timeline_{[this](const GpuSpan& span) { add_span(span); }};
};

}  // namespace rangefinder
