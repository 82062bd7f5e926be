// SPDX-License-Identifier: Apache-2.0
//
// Handlers of marks, push/pop and start/end ranges, in all domains. A handler calls the chained tool
// before it starts our range, and after it ends our range: our ranges exclude the tool's time.
#include <cstddef>
#include <cstring>

#include "profiler/events/recorder.h"
#include "profiler/nvtx/nvtx_chain.h"
#include "profiler/nvtx/nvtx_handlers.h"
#include "profiler/nvtx/nvtx_handles.h"

namespace rangefinder {

namespace {

using Attributes = const nvtxEventAttributes_t*;

ThreadUse use_thread() noexcept {
  return recorder().threads.use();
}

// Older headers have a shorter structure: nothing beyond its end is read.
const nvtxEventAttributes_t& whole(Attributes given, nvtxEventAttributes_t& copy) noexcept {
  if (given != nullptr && given->size >= sizeof copy) [[likely]]
    return *given;
  copy = {};
  if (given == nullptr) return copy;
  std::memcpy(&copy, given, given->size);
  // A field that is cut at the end may be an invalid pointer.
  copy.messageType = NVTX_MESSAGE_UNKNOWN;
  if (given->size < offsetof(nvtxEventAttributes_t, messageType)) copy.payloadType = NVTX_PAYLOAD_UNKNOWN;
  return copy;
}

NvtxAttributes attributes_of(const nvtxEventAttributes_t& given) noexcept {
  NvtxAttributes attributes;
  attributes.category = given.category;
  if (given.colorType == NVTX_COLOR_ARGB) attributes.color = given.color;
  // PayloadType has NVTX's order: u64, i64, f64, u32, i32, f32.
  if (given.payloadType >= NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 && given.payloadType <= NVTX_PAYLOAD_TYPE_FLOAT) {
    attributes.payload_type = static_cast<PayloadType>(given.payloadType);
    const bool wide = given.payloadType <= NVTX_PAYLOAD_TYPE_DOUBLE;
    attributes.payload = wide ? given.payload.ullValue : given.payload.uiValue;
  }
  return attributes;
}

// Calls `use(const EventText&)` with the text; its buffer is valid only during that call.
template <typename Use>
[[gnu::noinline]] auto with_wide(const wchar_t* text, const Use& use) noexcept {
  char buffer[NameTable::kLongTextBytes];
  return use(EventText{0, utf8_of(text, buffer)});
}

template <typename Use>
auto with_message(const nvtxEventAttributes_t& given, const Use& use) noexcept {
  switch (given.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return use(EventText{0, bounded_text(given.message.ascii)});
    case NVTX_MESSAGE_TYPE_UNICODE:
      return with_wide(given.message.unicode, use);
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return use(EventText{name_of_string(given.message.registered), {}});
    default:
      return use(EventText{});
  }
}

// Calls `use(const EventText&, const NvtxAttributes&)` with the contents of an attribute structure.
template <typename Use>
auto with_event(std::uint32_t domain, Attributes given, const Use& use) noexcept {
  nvtxEventAttributes_t copy;
  const nvtxEventAttributes_t& event = whole(given, copy);
  NvtxAttributes attributes = attributes_of(event);
  NvtxPayload payload;
  if (event.payloadType == NVTX_PAYLOAD_TYPE_EXT) [[unlikely]] {
    const auto* const data = reinterpret_cast<const nvtxPayloadData_t*>(event.payload.ullValue);
    const std::size_t count = event.reserved0 > 0 ? static_cast<std::size_t>(event.reserved0) : 0;
    if (select_payload(domain, data, count, payload)) attributes.extended = &payload;
    if (attributes.extended != nullptr && event.messageType == NVTX_MESSAGE_UNKNOWN) {
      return use(message_in(domain, payload), attributes);
    }
  }
  return with_message(event, [&](const EventText& text) { return use(text, attributes); });
}

void record_mark(std::uint32_t domain, Attributes given) noexcept {
  const ThreadUse state = use_thread();
  if (!state) return;
  with_event(domain, given,
             [&](const EventText& text, const NvtxAttributes& a) { mark(*state, domain, text, a); });
}

int record_push(std::uint32_t domain, Attributes given) noexcept {
  const ThreadUse state = use_thread();
  if (!state) return NVTX_NO_PUSH_POP_TRACKING;
  return with_event(domain, given, [&](const EventText& text, const NvtxAttributes& a) {
    return push_text(*state, domain, text, a);
  });
}

int record_push(const EventText& text) noexcept {
  const ThreadUse state = use_thread();
  return !state ? NVTX_NO_PUSH_POP_TRACKING : push_text(*state, 0, text, {});
}

int record_pop(std::uint32_t domain) noexcept {
  const ThreadUse state = use_thread();
  return !state ? NVTX_NO_PUSH_POP_TRACKING : state->pop(domain);
}

std::uint64_t record_start(std::uint32_t domain, Attributes given, std::uint64_t chained) noexcept {
  const ThreadUse state = use_thread();
  return with_event(domain, given, [&](const EventText& text, const NvtxAttributes& a) {
    return start_range(state, domain, text, a, chained);
  });
}

// Handlers, in the order of NvtxCallbackIdCore and NvtxCallbackIdCore2.

void on_mark_ex(Attributes event) noexcept {
  chain_core<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx, event);
  record_mark(0, event);
}
void on_mark_a(const char* message) noexcept {
  chain_core<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA, message);
  if (const ThreadUse state = use_thread()) mark(*state, 0, {0, bounded_text(message)}, {});
}
void on_mark_w(const wchar_t* message) noexcept {
  chain_core<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW, message);
  const ThreadUse state = use_thread();
  if (!state) return;
  with_wide(message, [&state](const EventText& text) { mark(*state, 0, text, {}); });
}
nvtxRangeId_t on_start_ex(Attributes event) noexcept {
  return record_start(0, event, chain_core<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx, event));
}
nvtxRangeId_t on_start_a(const char* message) noexcept {
  const auto chained = chain_core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA, message);
  return start_range(use_thread(), 0, {0, bounded_text(message)}, {}, chained);
}
nvtxRangeId_t on_start_w(const wchar_t* message) noexcept {
  const auto chained = chain_core<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW, message);
  return with_wide(
      message, [chained](const EventText& text) { return start_range(use_thread(), 0, text, {}, chained); });
}
void on_end(nvtxRangeId_t id) noexcept {
  end_range(id, nullptr);
  chain_core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, id);
}
int on_push_ex(Attributes event) noexcept {
  chain_core<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx, event);
  return record_push(0, event);
}
int on_push_a(const char* message) noexcept {
  chain_core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA, message);
  return record_push(EventText{0, bounded_text(message)});
}
int on_push_w(const wchar_t* message) noexcept {
  chain_core<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW, message);
  return with_wide(message, [](const EventText& text) { return record_push(text); });
}
int on_pop() noexcept {
  const int level = record_pop(0);
  chain_core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
  return level;
}

void on_domain_mark(nvtxDomainHandle_t domain, Attributes event) noexcept {
  chain_core2<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, chained_domain(domain), event);
  record_mark(domain_of(domain), event);
}
nvtxRangeId_t on_domain_start(nvtxDomainHandle_t domain, Attributes event) noexcept {
  const auto chained = chain_core2<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx,
                                                                       chained_domain(domain), event);
  return record_start(domain_of(domain), event, chained);
}
void on_domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) noexcept {
  end_range(id, nullptr);
  chain_core2<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd, chained_domain(domain), id);
}
int on_domain_push(nvtxDomainHandle_t domain, Attributes event) noexcept {
  chain_core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx, chained_domain(domain),
                                                 event);
  return record_push(domain_of(domain), event);
}
int on_domain_pop(nvtxDomainHandle_t domain) noexcept {
  const int level = record_pop(domain_of(domain));
  chain_core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop, chained_domain(domain));
  return level;
}

template <typename Function>
NvtxFunctionPointer slot(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

void add_range_handlers(HandlerTables& tables) noexcept {
  tables.core[NVTX_CBID_CORE_MarkEx] = slot(on_mark_ex);
  tables.core[NVTX_CBID_CORE_MarkA] = slot(on_mark_a);
  tables.core[NVTX_CBID_CORE_MarkW] = slot(on_mark_w);
  tables.core[NVTX_CBID_CORE_RangeStartEx] = slot(on_start_ex);
  tables.core[NVTX_CBID_CORE_RangeStartA] = slot(on_start_a);
  tables.core[NVTX_CBID_CORE_RangeStartW] = slot(on_start_w);
  tables.core[NVTX_CBID_CORE_RangeEnd] = slot(on_end);
  tables.core[NVTX_CBID_CORE_RangePushEx] = slot(on_push_ex);
  tables.core[NVTX_CBID_CORE_RangePushA] = slot(on_push_a);
  tables.core[NVTX_CBID_CORE_RangePushW] = slot(on_push_w);
  tables.core[NVTX_CBID_CORE_RangePop] = slot(on_pop);
  tables.core2[NVTX_CBID_CORE2_DomainMarkEx] = slot(on_domain_mark);
  tables.core2[NVTX_CBID_CORE2_DomainRangeStartEx] = slot(on_domain_start);
  tables.core2[NVTX_CBID_CORE2_DomainRangeEnd] = slot(on_domain_end);
  tables.core2[NVTX_CBID_CORE2_DomainRangePushEx] = slot(on_domain_push);
  tables.core2[NVTX_CBID_CORE2_DomainRangePop] = slot(on_domain_pop);
}

}  // namespace rangefinder
