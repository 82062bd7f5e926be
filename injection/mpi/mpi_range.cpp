// SPDX-License-Identifier: Apache-2.0
#include "injection/mpi/mpi_range.h"

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

#include "injection/mpi/mpi_functions.h"

namespace rangefinder::mpi {
namespace {

constexpr std::uint64_t kFirstSchema = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 1;

constexpr std::uint64_t schema_of(MpiRange::Other other) noexcept {
  return kFirstSchema + static_cast<std::uint64_t>(other);
}

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset) noexcept {
  nvtxPayloadSchemaEntry_t out{};
  out.type = type;
  out.name = name;
  out.offset = offset;
  return out;
}

void register_schema(nvtxDomainHandle_t domain, MpiRange::Other other, const char* name_of_rank) noexcept {
  const nvtxPayloadSchemaEntry_t entries[] = {
      entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", 0),
      entry(NVTX_PAYLOAD_ENTRY_TYPE_INT, name_of_rank == nullptr ? "" : name_of_rank,
            offsetof(MessagePayload, rank))};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = name_of_rank == nullptr ? 1 : 2;
  schema.payloadStaticSize = sizeof(MessagePayload);
  schema.schemaId = schema_of(other);
  nvtxPayloadSchemaRegister(domain, &schema);
}

/// Created at the first call, because NVTX loads its tool then.
nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t made = [] {
    const nvtxDomainHandle_t out = nvtxDomainCreateA("MPI");
    register_schema(out, MpiRange::Other::none, nullptr);
    register_schema(out, MpiRange::Other::peer, "Peer rank");
    register_schema(out, MpiRange::Other::root, "Root");
    return out;
  }();
  return made;
}

nvtxEventAttributes_t named(const char* name) noexcept {
  nvtxEventAttributes_t out{};
  out.version = NVTX_VERSION;
  out.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  out.messageType = NVTX_MESSAGE_TYPE_ASCII;
  out.message.ascii = name;
  return out;
}

}  // namespace

int ranks_of(MPI_Comm communicator) noexcept {
  int ranks = 0;
  return PMPI_Comm_size != nullptr && PMPI_Comm_size(communicator, &ranks) == MPI_SUCCESS ? ranks : 0;
}

std::size_t bytes_of(int count, MPI_Datatype type) noexcept {
  int size = 0;
  if (count <= 0 || PMPI_Type_size == nullptr || PMPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return 0;
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

std::size_t bytes_of(const int* counts, MPI_Datatype type, MPI_Comm communicator) noexcept {
  std::size_t sum = 0;
  for (int rank = counts == nullptr ? 0 : ranks_of(communicator); rank > 0; --rank)
    sum += bytes_of(counts[rank - 1], type);
  return sum;
}

MpiRange::MpiRange(const char* name) noexcept {
  const nvtxEventAttributes_t attributes = named(name);
  nvtxDomainRangePushEx(domain(), &attributes);
}

MpiRange::MpiRange(const char* name, std::size_t bytes, Other other, int rank) noexcept
    : payload_{bytes, rank} {
  const nvtxDomainHandle_t own = domain();
  const nvtxPayloadData_t data{schema_of(other), sizeof payload_, &payload_};
  nvtxEventAttributes_t attributes = named(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;  // payloads
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtxDomainRangePushEx(own, &attributes);
}

void MpiRange::got(std::size_t bytes, int peer) noexcept {
  payload_ = {bytes, peer};
  has_got_ = true;
}

MpiRange::~MpiRange() {
  if (!has_got_) {
    nvtxDomainRangePop(domain());
    return;
  }
  const nvtxPayloadData_t data{schema_of(Other::peer), sizeof payload_, &payload_};
  nvtxRangePopPayload(domain(), &data, 1);
}

}  // namespace rangefinder::mpi
