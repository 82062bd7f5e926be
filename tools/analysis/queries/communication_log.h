// SPDX-License-Identifier: Apache-2.0
//
// Communication of a program: operations, bytes, and overlap with other GPU work.
//
//   NVTX domains NCCL, MPI ─▶ calls: operation, bytes, communicator      ┐
//   kernels of NCCL, NVSHMEM ───────────────────────────────────────────┴▶ operations(), collectives()
//   all kernels ─▶ GpuTimeline ─▶ communication without other kernels (exposed) and with them (overlapped)
//
// A kernel belongs to the call that launched it. Calls between ncclGroupStart and ncclGroupEnd belong to
// the group that launches them. Without NVTX (NCCL_NVTX_DISABLE) the kernel's name gives the operation, and
// bytes are unknown. Keeps under 100 bytes per NCCL or MPI call and per communication kernel, and the data
// of gpu_timeline.h for all other kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/queries/extended_payload.h"
#include "tools/analysis/queries/gpu_timeline.h"

namespace rangefinder {

enum class CommunicationLibrary : std::uint8_t { nccl, nvshmem, mpi };
[[nodiscard]] const char* name_of(CommunicationLibrary library) noexcept;

/// A call that sends, receives or waits. Names live as long as the log.
struct CommunicationCall {
  CommunicationLibrary made_by = CommunicationLibrary::nccl;
  const std::string* operation = nullptr;  ///< "AllReduce", "MPI_Send"
  const std::string* reduction = nullptr;  ///< "Sum"; nullptr: none, or unknown
  std::uint64_t range = 0;
  std::uint32_t thread = 0;
  TimeNs start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> bytes;
  std::uint64_t communicator = 0;  ///< NCCL's hash, the same on all ranks; 0: unknown
};

/// One kernel of a communication library.
struct Collective {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t gpu = 0;
  std::string operation;  ///< several operations of one group are joined by "+"
  std::uint64_t communicator = 0;
  std::uint32_t path = 0;
  std::size_t iteration = SIZE_MAX;  ///< SIZE_MAX: none, or not known
};

/// All calls and kernels of one operation.
struct OperationTotals {
  std::uint64_t calls = 0, kernels = 0;
  std::uint64_t bytes = 0, calls_with_bytes = 0;
  std::uint64_t gpu_ns = 0, host_ns = 0;
};
struct OperationKey {
  CommunicationLibrary made_by;
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
  static constexpr Columns kColumns = kAllRange | Column::work_times | Column::work_place |
                                      Column::work_path | Column::work_range | Column::work_name;
  void add(const SelectedRows& rows);
  // What add() passes of a chunk: its lines that are no rows, and its rows.
  void add_names(const Line& line);
  void add_range(const RangeRecord& range);
  /// `iteration`: to which it belongs; SIZE_MAX: none, or not known.
  void add_kernel(const KernelRecord& kernel, std::size_t iteration = SIZE_MAX);
  /// Call once, after the last chunk.
  void finish();
  [[nodiscard]] bool empty() const noexcept { return calls_.empty() && kernels_.empty(); }
  /// A kernel name of a communication library; names come before their kernels.
  [[nodiscard]] bool communicates(std::uint32_t kernel_name) const {
    return kernel_names_.contains(kernel_name);
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
    TimeNs start_ns, end_ns;
    std::uint64_t range;
    std::uint32_t gpu, name, path;
    std::size_t iteration;
  };
  void add_nccl_range(const RangeRecord& range, const std::string& name);
  void add_span(const GpuSpan& span);
  const std::string* keep(std::string text) { return &*texts_.insert(std::move(text)).first; }
  void fill_extras(CommunicationCall& call, const RangeRecord& range) const;
  void join_groups();
  void join_kernels();
  void count_calls();

  std::unordered_map<std::uint32_t, CommunicationLibrary> domains_;
  std::unordered_map<std::uint32_t, std::string> paths_;  // in these domains: name of the innermost range
  struct KernelName {
    CommunicationLibrary made_by;
    std::string operation, reduction;  // from the kernel name
  };
  std::unordered_map<std::uint32_t, KernelName> kernel_names_;
  ExtendedPayloads payloads_;
  std::set<std::string> texts_;
  std::vector<CommunicationCall> calls_;
  std::vector<GroupEdge> edges_;
  std::vector<RangeRecord> undecoded_;  // their schema has not come yet
  bool finishing_ = false;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> calls_of_range_;  // indices into calls_
  std::map<OperationKey, OperationTotals> operations_;
  std::vector<Collective> collectives_;
  std::map<std::uint32_t, CommunicationOverlap> overlaps_;
  GpuTimeline timeline_{[this](const GpuSpan& span) { add_span(span); }};
};

}  // namespace rangefinder
