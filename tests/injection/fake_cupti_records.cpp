// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI: sizes of records, and their iteration.
#include "profiler/cupti/host_function_records.h"
#include "tests/injection/fake_cupti.h"

namespace fake {

std::size_t size_of(CUpti_ActivityKind kind) {
  if (kind == rangefinder::kGraphHostNodeKind) return sizeof(rangefinder::GraphHostNodeActivity);
  if (kind == rangefinder::kHostLaunchKind) return sizeof(rangefinder::HostLaunchActivity);
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return sizeof(CUpti_ActivityGraphTrace2);
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
      return sizeof(CUpti_ActivityDeviceGraphTrace);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return sizeof(CUpti_ActivityContext3);
    case CUPTI_ACTIVITY_KIND_STREAM:
      return sizeof(CUpti_ActivityStream);
    default:
      return 0;
  }
}

}  // namespace fake

FAKE_EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes,
                                                   CUpti_Activity** record) {
  FAKE_BEGIN(ActivityGetNextRecord, nothing);
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + fake::size_of((*record)->kind);
  if (next < buffer || next > buffer + valid_bytes) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::size_t left = valid_bytes - static_cast<std::size_t>(next - buffer);
  if (left == 0) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const found = reinterpret_cast<CUpti_Activity*>(next);
  const std::size_t bytes = left >= sizeof(CUpti_Activity) ? fake::size_of(found->kind) : 0;
  if (bytes == 0 || bytes > left) return CUPTI_ERROR_INVALID_KIND;
  *record = found;
  return CUPTI_SUCCESS;
}
