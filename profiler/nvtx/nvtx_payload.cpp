// SPDX-License-Identifier: Apache-2.0
//
// The NVTX payload extension: schemas, and ranges and marks whose attributes are a payload.
#include <atomic>
#include <cstring>

#include "profiler/events/recorder.h"
#include "profiler/nvtx/nvtx_chain.h"
#include "profiler/nvtx/nvtx_handlers.h"
#include "profiler/nvtx/nvtx_handles.h"
#include "profiler/nvtx/payload_schemas.h"

namespace rangefinder {

bool select_payload(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count,
                    NvtxPayload& selected) noexcept {
  if (data == nullptr) return false;
  LossLedger& loss = recorder().loss;
  bool found = false;
  for (std::size_t i = 0; i < count; ++i) {
    // Referenced blobs are parts of another payload.
    const bool whole = data[i].schemaId != NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED && data[i].payload != nullptr;
    std::size_t bytes = data[i].size;
    if (bytes == SIZE_MAX) {
      const SchemaLayout* const layout = payload_schemas().find(domain, data[i].schemaId);
      bytes = layout == nullptr ? 0 : layout->static_bytes;
    }
    if (found || !whole || bytes == 0) {
      if (data[i].payload != nullptr && data[i].size != 0) loss.add(Loss::payloads_truncated);
      continue;
    }
    selected = {data[i].schemaId, data[i].payload, bytes};
    found = true;
  }
  return found;
}

EventText message_in(std::uint32_t domain, const NvtxPayload& payload) noexcept {
  using Message = SchemaLayout::Message;
  const SchemaLayout* const layout = payload_schemas().find(domain, payload.schema);
  if (layout == nullptr || layout->message == Message::none || layout->message_at >= payload.bytes) return {};
  const char* const at = static_cast<const char*>(payload.data) + layout->message_at;
  const std::size_t left = payload.bytes - layout->message_at;
  if (layout->message == Message::embedded) {
    const std::size_t max_bytes =
        layout->message_bytes == 0 ? left : std::min<std::size_t>(left, layout->message_bytes);
    return {0, {at, strnlen(at, max_bytes)}};
  }
  if (left < sizeof(void*)) return {};
  if (layout->message == Message::pointer) {
    const char* text = nullptr;
    std::memcpy(&text, at, sizeof text);
    return {0, bounded_text(text)};
  }
  nvtxStringHandle_t handle = nullptr;
  std::memcpy(&handle, at, sizeof handle);
  return handle == nullptr ? EventText{} : EventText{name_of_string(handle), {}};
}

namespace {

std::atomic<std::uint64_t> g_next_schema{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};
std::atomic<std::uint64_t> g_next_scope{NVTX_SCOPE_ID_DYNAMIC_START};
std::atomic<std::uint64_t> g_next_time_domain{NVTX_TIME_DOMAIN_ID_DYNAMIC_START};

// The id that the application requested, that of the chained tool, or a new one.
std::uint64_t choose_id(std::uint64_t given, std::uint64_t chained,
                        std::atomic<std::uint64_t>& next) noexcept {
  if (given != 0) return given;
  return chained != 0 ? chained : next.fetch_add(1, std::memory_order_relaxed);
}

template <typename Attributes>
void record_definition(std::uint32_t domain, std::uint64_t id, const Attributes& attributes) noexcept {
  Recorder& own = recorder();
  const ThreadUse state = own.threads.use();
  if (!state) return;
  try {
    Event event;
    event.kind = EventKind::payload_schema;
    event.start_ns = event.end_ns = recorder().clock.now_ns();
    event.schema.id = id;
    event.schema.definition = own.names.intern(definition_of(attributes));
    event.schema.domain = domain;
    // kOtherName: intern() has counted it, and there is no JSON.
    if (event.schema.definition != kOtherName) state->emit(event);
    state->emit_lock_wait();
  } catch (...) {
    own.loss.add(Loss::record_sink_errors);
  }
}

std::uint64_t on_schema_register(nvtxDomainHandle_t handle, const nvtxPayloadSchemaAttr_t* schema) noexcept {
  using Function = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
  const auto chained =
      chain_payload<Function>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister, chained_domain(handle), schema);
  if (schema == nullptr) return chained;
  const bool fixed = (schema->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) != 0;
  const std::uint64_t id = choose_id(fixed ? schema->schemaId : 0, chained, g_next_schema);
  const std::uint32_t domain = domain_of(handle);
  payload_schemas().add(domain, id, *schema);
  record_definition(domain, id, *schema);
  return id;
}

std::uint64_t on_enum_register(nvtxDomainHandle_t handle, const nvtxPayloadEnumAttr_t* enumeration) noexcept {
  using Function = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t*);
  const auto chained =
      chain_payload<Function>(NVTX3EXT_CBID_nvtxPayloadEnumRegister, chained_domain(handle), enumeration);
  if (enumeration == nullptr) return chained;
  const bool fixed = (enumeration->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0;
  const std::uint64_t id = choose_id(fixed ? enumeration->schemaId : 0, chained, g_next_schema);
  const std::uint32_t domain = domain_of(handle);
  // In a payload an enum is an integer of the enum's size.
  nvtxPayloadSchemaAttr_t as_schema{};
  as_schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  if ((enumeration->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) != 0) {
    as_schema.payloadStaticSize = enumeration->sizeOfEnum;
  }
  payload_schemas().add(domain, id, as_schema);
  record_definition(domain, id, *enumeration);
  return id;
}

// Calls `use(domain, text, attributes)` with the contents of an event's payloads.
template <typename Use>
auto with_payloads(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data, std::size_t count,
                   const Use& use) noexcept {
  const std::uint32_t domain = domain_of(handle);
  NvtxPayload payload;
  NvtxAttributes attributes;
  if (!select_payload(domain, data, count, payload)) return use(domain, EventText{}, attributes);
  attributes.extended = &payload;
  return use(domain, message_in(domain, payload), attributes);
}

using Event3 = void (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t);
using Level3 = int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t);
using Start3 = nvtxRangeId_t (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t);
using End4 = void (*)(nvtxDomainHandle_t, nvtxRangeId_t, const nvtxPayloadData_t*, std::size_t);

void on_payload_mark(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data, std::size_t count) noexcept {
  chain_payload<Event3>(NVTX3EXT_CBID_nvtxMarkPayload, chained_domain(handle), data, count);
  const ThreadUse state = recorder().threads.use();
  if (!state) return;
  with_payloads(handle, data, count,
                [&state](std::uint32_t domain, const EventText& text, const NvtxAttributes& a) {
                  mark(*state, domain, text, a);
                });
}

int on_payload_push(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data, std::size_t count) noexcept {
  chain_payload<Level3>(NVTX3EXT_CBID_nvtxRangePushPayload, chained_domain(handle), data, count);
  const ThreadUse state = recorder().threads.use();
  if (!state) return NVTX_NO_PUSH_POP_TRACKING;
  return with_payloads(handle, data, count,
                       [&state](std::uint32_t domain, const EventText& text, const NvtxAttributes& a) {
                         return push_text(*state, domain, text, a);
                       });
}

int on_payload_pop(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data, std::size_t count) noexcept {
  int level = NVTX_NO_PUSH_POP_TRACKING;
  if (const ThreadUse state = recorder().threads.use()) {
    level = with_payloads(handle, data, count,
                          [&state](std::uint32_t domain, const EventText&, const NvtxAttributes& a) {
                            return state->pop(domain, a.extended);
                          });
  }
  chain_payload<Level3>(NVTX3EXT_CBID_nvtxRangePopPayload, chained_domain(handle), data, count);
  return level;
}

nvtxRangeId_t on_payload_start(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data,
                               std::size_t count) noexcept {
  const auto chained =
      chain_payload<Start3>(NVTX3EXT_CBID_nvtxRangeStartPayload, chained_domain(handle), data, count);
  return with_payloads(handle, data, count,
                       [chained](std::uint32_t domain, const EventText& text, const NvtxAttributes& a) {
                         return start_range(recorder().threads.use(), domain, text, a, chained);
                       });
}

void on_payload_end(nvtxDomainHandle_t handle, nvtxRangeId_t id, const nvtxPayloadData_t* data,
                    std::size_t count) noexcept {
  with_payloads(handle, data, count, [id](std::uint32_t, const EventText&, const NvtxAttributes& a) {
    end_range(id, a.extended);
  });
  chain_payload<End4>(NVTX3EXT_CBID_nvtxRangeEndPayload, chained_domain(handle), id, data, count);
}

std::uint8_t on_is_enabled(nvtxDomainHandle_t) noexcept {
  return 1;
}

std::uint64_t on_scope_register(nvtxDomainHandle_t domain, const nvtxScopeAttr_t* scope) noexcept {
  using Function = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxScopeAttr_t*);
  const auto chained =
      chain_payload<Function>(NVTX3EXT_CBID_nvtxScopeRegister, chained_domain(domain), scope);
  if (scope == nullptr || scope->structSize < sizeof *scope) return chained;
  return choose_id(scope->scopeId, chained, g_next_scope);
}

std::uint64_t on_time_domain_register(nvtxDomainHandle_t domain, const nvtxTimeDomainAttr_t* time) noexcept {
  using Function = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxTimeDomainAttr_t*);
  const auto chained =
      chain_payload<Function>(NVTX3EXT_CBID_nvtxTimeDomainRegister, chained_domain(domain), time);
  return time == nullptr ? chained : choose_id(time->timeDomainId, chained, g_next_time_domain);
}

// The application may pass these times back to the chained tool, so they come from the tool's clock.
std::int64_t on_timestamp_get() noexcept {
  const std::int64_t chained = chain_payload<std::int64_t (*)()>(NVTX3EXT_CBID_nvtxTimestampGet);
  return chained != 0 ? chained : recorder().clock.now_ns();
}

template <typename Function>
std::intptr_t payload_slot(Function* function) noexcept {
  return reinterpret_cast<std::intptr_t>(function);
}

}  // namespace

std::intptr_t payload_handler(unsigned id) noexcept {
  switch (id) {
    case NVTX3EXT_CBID_nvtxPayloadSchemaRegister:
      return payload_slot(on_schema_register);
    case NVTX3EXT_CBID_nvtxPayloadEnumRegister:
      return payload_slot(on_enum_register);
    case NVTX3EXT_CBID_nvtxMarkPayload:
      return payload_slot(on_payload_mark);
    case NVTX3EXT_CBID_nvtxRangePushPayload:
      return payload_slot(on_payload_push);
    case NVTX3EXT_CBID_nvtxRangePopPayload:
      return payload_slot(on_payload_pop);
    case NVTX3EXT_CBID_nvtxRangeStartPayload:
      return payload_slot(on_payload_start);
    case NVTX3EXT_CBID_nvtxRangeEndPayload:
      return payload_slot(on_payload_end);
    case NVTX3EXT_CBID_nvtxDomainIsEnabled:
      return payload_slot(on_is_enabled);
    case NVTX3EXT_CBID_nvtxScopeRegister:
      return payload_slot(on_scope_register);
    case NVTX3EXT_CBID_nvtxTimeDomainRegister:
      return payload_slot(on_time_domain_register);
    case NVTX3EXT_CBID_nvtxTimestampGet:
      return payload_slot(on_timestamp_get);
    default:
      return 0;
  }
}

}  // namespace rangefinder
