// SPDX-License-Identifier: Apache-2.0
//
// nccl_calls VERSION STEPS: without NCCL, makes the NVTX calls and kernels of an NCCL version.
//
//   26   from 2.26 on: the payload begins with the communicator; groups have their own ranges
//   25   up to 2.25: only size and reduction; ncclSend and ncclRecv contain a group
//   0    NCCL_NVTX_DISABLE=1: kernels only
//
// A step: compute, all-reduce of 4 MiB (sum), reduce-scatter of 1 MiB (max), a group of a send and a receive
// of 64 KiB each. Schema ids, names, entries and flags are those of NCCL's public sources.
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr std::uint64_t kFirstId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
constexpr std::uint64_t kAllReduceId = kFirstId + 5, kReduceScatterId = kFirstId + 7, kSendId = kFirstId + 9,
                        kRecvId = kFirstId + 10;
constexpr std::uint64_t kCommunicator = 0xc0ffee0123456789;
constexpr const char* kSizeName = "Message size [bytes]";

struct NewReduce {
  std::uint64_t communicator;
  std::size_t bytes;
  int op;
};
struct NewPeer {
  std::uint64_t communicator;
  std::size_t bytes;
  int peer;
};
struct OldReduce {
  std::size_t bytes;
  int op;
};
struct OldPeer {
  std::size_t bytes;
  int peer;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) {
  nvtxPayloadSchemaEntry_t out{};
  out.type = type;
  out.name = name;
  out.offset = offset;
  return out;
}

class Nccl {
 public:
  explicit Nccl(int version)
      : version_(version),
        enum_id_(kFirstId + (version >= 26 ? 24 : 11)),
        domain_(nvtxDomainCreateA("NCCL")) {
    if (version_ == 0) return;
    static const nvtxPayloadEnum_t kReductions[] = {
        {"Sum", 0, 0}, {"Product", 1, 0}, {"Max", 2, 0}, {"Min", 3, 0}, {"Avg", 4, 0}};
    nvtxPayloadEnumAttr_t reductions{};
    reductions.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                           NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
    reductions.entries = kReductions;
    reductions.numEntries = std::size(kReductions);
    reductions.sizeOfEnum = sizeof(int);
    reductions.schemaId = enum_id_;
    nvtxPayloadEnumRegister(domain_, &reductions);
    add_reduction(kAllReduceId, "AllReduce");
    add_reduction(kReduceScatterId, "ReduceScatter");
    add_peer(kSendId, "Send");
    add_peer(kRecvId, "Recv");
  }

  void push(const char* name) {
    if (version_ == 0) return;
    nvtxEventAttributes_t attributes = named(name);
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  template <typename Payload>
  void push(const char* name, std::uint64_t schema, const Payload& payload) {
    if (version_ == 0) return;
    const nvtxPayloadData_t data{schema, sizeof(payload), &payload};
    nvtxEventAttributes_t attributes = named(name);
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;  // payloads
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
    nvtxDomainRangePushEx(domain_, &attributes);
  }
  void pop() {
    if (version_ != 0) nvtxDomainRangePop(domain_);
  }

  void push_reduction(const char* name, std::uint64_t schema, std::size_t bytes, int op) {
    if (version_ >= 26) return push(name, schema, NewReduce{kCommunicator, bytes, op});
    push(name, schema, OldReduce{bytes, op});
  }
  void push_peer(const char* name, std::uint64_t schema, std::size_t bytes, int peer) {
    if (version_ >= 26) return push(name, schema, NewPeer{kCommunicator, bytes, peer});
    push(name, schema, OldPeer{bytes, peer});
  }

 private:
  nvtxEventAttributes_t named(const char* name) {
    nvtxEventAttributes_t out{};
    out.version = NVTX_VERSION;
    out.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    out.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    out.message.registered = nvtxDomainRegisterStringA(domain_, name);
    return out;
  }

  void add(std::uint64_t id, const char* name, const nvtxPayloadSchemaEntry_t* entries, std::size_t count,
           std::size_t bytes) {
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                       NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
    schema.name = version_ >= 26 ? nullptr : name;
    schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
    schema.entries = entries;
    schema.numEntries = count;
    schema.payloadStaticSize = version_ >= 26 ? bytes : 0;
    schema.schemaId = id;
    nvtxPayloadSchemaRegister(domain_, &schema);
  }
  void add_reduction(std::uint64_t id, const char* name) {
    const nvtxPayloadSchemaEntry_t now[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kSizeName, offsetof(NewReduce, bytes)),
        entry(enum_id_, "Reduction operation", offsetof(NewReduce, op))};
    const nvtxPayloadSchemaEntry_t before[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kSizeName, 0),
        entry(enum_id_, "Reduction operation", offsetof(OldReduce, op))};
    if (version_ >= 26) return add(id, name, now, std::size(now), sizeof(NewReduce));
    add(id, name, before, std::size(before), 0);
  }
  void add_peer(std::uint64_t id, const char* name) {
    const nvtxPayloadSchemaEntry_t now[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", 0),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, kSizeName, offsetof(NewPeer, bytes)),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", offsetof(NewPeer, peer))};
    const nvtxPayloadSchemaEntry_t before[] = {
        entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Bytes", 0),
        entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, "Peer rank", offsetof(OldPeer, peer))};
    if (version_ >= 26) return add(id, name, now, std::size(now), sizeof(NewPeer));
    add(id, name, before, std::size(before), 0);
  }

  int version_;
  std::uint64_t enum_id_;
  nvtxDomainHandle_t domain_;
};

void step(const Gpu& gpu, Nccl& nccl, int version) {
  static const CUfunction all_reduce =
      Gpu::kernel("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  static const CUfunction reduce_scatter =
      Gpu::kernel("_Z43ncclDevKernel_ReduceScatter_Max_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  static const CUfunction send_recv =
      Gpu::kernel("_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE");
  gpu.work(2);
  nccl.push_reduction("ncclAllReduce", kAllReduceId, 4u << 20, 0);
  Gpu::launch_one(all_reduce);
  nccl.pop();
  nccl.push_reduction("ncclReduceScatter", kReduceScatterId, 1u << 20, 2);
  Gpu::launch_one(reduce_scatter);
  nccl.pop();
  const bool nests = version == 25;
  const auto in_range = [&nccl](const char* name) {
    nccl.push(name);
    nccl.pop();
  };
  in_range("ncclGroupStart");
  for (const bool sends : {true, false}) {
    nccl.push_peer(sends ? "ncclSend" : "ncclRecv", sends ? kSendId : kRecvId, 64u << 10, 1);
    if (nests) in_range("ncclGroupStart");
    if (nests) in_range("ncclGroupEnd");
    nccl.pop();
  }
  nccl.push("ncclGroupEnd");
  Gpu::launch_one(send_recv);
  nccl.pop();
}

}  // namespace

int main(int argc, char** argv) {
  const int version = argc > 1 ? std::atoi(argv[1]) : 26;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 1;
  const Gpu gpu;
  Nccl nccl(version);
  for (int i = 0; i < steps; ++i) {
    const Range range("step");
    step(gpu, nccl, version);
  }
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  std::printf("%d steps\n", steps);
  return 0;
}
