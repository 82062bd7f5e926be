// SPDX-License-Identifier: Apache-2.0
//
// Communication of one rank as its trace has it: NCCL's calls with payloads of NCCL 2.26 and later, kernels
// of NCCL and of symmetric memory.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/queries/communication_log.h"

namespace rangefinder::test {

inline constexpr std::uint32_t kDomain = 3, kBroadcastPath = 5;
inline constexpr std::uint64_t kEnum = 100, kReduceSchema = 101;
inline constexpr const char* kReduceEntries =
    R"({"kind":"schema","entries":[{"name":"NCCL communicator ID","type":"uint64"},)"
    R"({"name":"Message size [bytes]","type":"size","offset":8},)"
    R"({"name":"Reduction operation","type":100,"offset":16}],"size":24})";
inline constexpr const char* kReductions =
    R"({"kind":"enum","entries":[{"name":"Sum","value":0},{"name":"Max","value":2}],"size":4})";

inline NvtxExtras reduction(std::uint64_t communicator, std::uint64_t bytes, std::uint32_t op) {
  NvtxExtras extras;
  extras.payload_schema = kReduceSchema;
  extras.payload_data.resize(24);
  std::memcpy(extras.payload_data.data(), &communicator, 8);
  std::memcpy(extras.payload_data.data() + 8, &bytes, 8);
  std::memcpy(extras.payload_data.data() + 16, &op, 4);
  return extras;
}

/// Lines of one rank; each goes to a log immediately.
class Rank {
 public:
  explicit Rank(bool schemas_first = true) {
    show(DomainRecord{kDomain, "NCCL"});
    if (schemas_first) show_schemas();
    show(PathRecord{1, 0, kDomain, "ncclAllReduce"});
    show(PathRecord{2, 0, kDomain, "ncclGroupStart"});
    show(PathRecord{3, 0, kDomain, "ncclGroupEnd"});
    show(PathRecord{4, 0, kDomain, "ncclAllGather"});
    show(PathRecord{kBroadcastPath, 0, kDomain, "ncclBroadcast"});
    show(KernelNameRecord{1, "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "NCCL", ""});
    show(KernelNameRecord{2, "", "gemm", "own", ""});
    show(KernelNameRecord{3, "", "one_shot_all_reduce_kernel", "own", ""});  // as older versions wrote it
    for (const std::uint32_t blocks : {1U, 2U}) {
      LaunchConfigRecord config;
      config.id = blocks;
      config.grid = {blocks, 1, 1};
      config.block = {512, 1, 1};
      show(config);
    }
  }
  void show_schemas() {
    show(PayloadSchemaRecord{kEnum, kDomain, kReductions});
    show(PayloadSchemaRecord{kReduceSchema, kDomain, kReduceEntries});
  }
  template <typename Record>
  void show(const Record& record) {
    if constexpr (std::is_same_v<Record, RangeRecord>) {
      log->add_range(record);
    } else if constexpr (std::is_same_v<Record, KernelRecord>) {
      log->add_kernel(record, names);
    } else if constexpr (std::is_same_v<Record, MemcpyRecord>) {
      log->add_copy(record);
    } else {
      names.add(Line(record));
      log->add_names(Line(record));
    }
  }
  void call(std::uint64_t id, TimeNs start, std::uint64_t bytes, std::uint32_t op = 0,
            std::uint32_t path = 1) {
    RangeRecord line = range(id, path, start, start + 10);
    line.domain = kDomain;
    line.extras = reduction(77, bytes, op);
    show(line);
  }
  void group(std::uint64_t id, std::uint32_t path, TimeNs start) {
    RangeRecord line = range(id, path, start, start + 5);
    line.domain = kDomain;
    show(line);
  }
  void run(std::uint32_t name, TimeNs start, TimeNs end, std::uint64_t in_range = 0,
           std::uint32_t stream = 7) {
    show(KernelRecord{{start, end, 0, 1, stream, 1, 0, in_range}, name, 1});
  }
  /// One of symmetric memory. `launch`, `node`: of a graph.
  void exchange(TimeNs start, TimeNs end, std::uint32_t stream, std::uint32_t config = 1,
                std::uint32_t launch = 0, std::uint32_t node = 0) {
    KernelRecord line{{start, end, 0, 1, stream, launch}, 3, config};
    if (launch != 0) {
      line.work.graph = 9;
      line.work.graph_node = node_id(9, node);
    }
    show(line);
  }
  const CommunicationLog& finished() {
    log->finish();
    return *log;
  }
  TraceNames names;
  std::unique_ptr<CommunicationLog> log = std::make_unique<CommunicationLog>();
};

}  // namespace rangefinder::test
