// SPDX-License-Identifier: Apache-2.0
//
// NVTX domains, registered strings, and names of categories and threads.
#include <new>

#include "profiler/events/recorder.h"
#include "profiler/guest/host_lock.h"
#include "profiler/nvtx/module_sources.h"
#include "profiler/nvtx/nvtx_chain.h"
#include "profiler/nvtx/nvtx_handlers.h"
#include "profiler/nvtx/nvtx_handles.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kDomainTag = 0x52460001, kStringTag = 0x52460002;

// Constant-initialised, trivial to destroy: usable at any time.
HostMutex g_chained_mutex;  // held for inserts
IdMap g_chained_domains;
IdMap g_chained_strings;

// If the map is full, the tool's handle stays valid for the tool; for us it means the default domain or
// (other).
void keep_chained(IdMap& map, std::uint64_t handle, std::uint32_t id) noexcept {
  const HostLock lock(g_chained_mutex);
  if (!lock || !map.insert(handle, id)) recorder().loss.add(Loss::names_folded);
}

std::uint64_t bits_of(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

template <typename Handle>
Handle handle_of(std::uint64_t tag, std::uint32_t id) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(tag << 32 | id));
}

}  // namespace

std::uint32_t IdMap::find(std::uint64_t key) const noexcept {
  const Slot* const slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr || key == 0) return 0;
  for (std::size_t i = key * 0x9E3779B97F4A7C15 >> 32;; ++i) {
    const std::uint64_t at = slots[i % kSlots].key.load(std::memory_order_acquire);
    if (at == key) return slots[i % kSlots].id.load(std::memory_order_relaxed);
    if (at == 0) return 0;
  }
}

bool IdMap::insert(std::uint64_t key, std::uint32_t id) noexcept {
  if (key == 0) return false;
  Slot* slots = slots_.load(std::memory_order_relaxed);
  if (slots == nullptr) {
    slots = new (std::nothrow) Slot[kSlots];
    if (slots == nullptr) return false;
    slots_.store(slots, std::memory_order_release);
  }
  std::size_t i = key * 0x9E3779B97F4A7C15 >> 32;
  while (slots[i % kSlots].key.load(std::memory_order_relaxed) != 0) {
    if (slots[i % kSlots].key.load(std::memory_order_relaxed) == key) {
      slots[i % kSlots].id.store(id, std::memory_order_relaxed);
      return true;
    }
    ++i;
  }
  if (used_ == kMaxEntries) return false;
  ++used_;
  slots[i % kSlots].id.store(id, std::memory_order_relaxed);
  slots[i % kSlots].key.store(key, std::memory_order_release);
  return true;
}

std::uint32_t domain_of(nvtxDomainHandle_t handle) noexcept {
  const std::uint64_t bits = bits_of(handle);
  if (bits == 0) return 0;
  if (bits >> 32 != kDomainTag) return g_chained_domains.find(bits);
  const auto id = static_cast<std::uint32_t>(bits);
  return id < recorder().domain_count() ? id : 0;
}

nvtxDomainHandle_t chained_domain(nvtxDomainHandle_t handle) noexcept {
  return bits_of(handle) >> 32 == kDomainTag ? nullptr : handle;
}

std::uint32_t name_of_string(nvtxStringHandle_t handle) noexcept {
  const std::uint64_t bits = bits_of(handle);
  if (bits >> 32 == kStringTag && static_cast<std::uint32_t>(bits) <= recorder().names.size()) {
    return static_cast<std::uint32_t>(bits);
  }
  const std::uint32_t name = g_chained_strings.find(bits);
  return name != 0 ? name : kOtherName;
}

HostMutex& handles_mutex() noexcept {
  return g_chained_mutex;
}

std::string_view utf8_of(const wchar_t* text, std::span<char> out) noexcept {
  TextBuffer utf8(out);
  for (; text != nullptr && *text != 0; ++text) {
    auto point = static_cast<std::uint32_t>(*text);
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) point = 0xFFFD;
    const auto put = [&](std::uint32_t byte) { utf8.put(static_cast<char>(byte)); };
    if (point < 0x80) {
      put(point);
      continue;
    }
    if (point < 0x800) {
      put(0xC0 | point >> 6);
    } else if (point < 0x10000) {
      put(0xE0 | point >> 12);
      put(0x80 | (point >> 6 & 0x3F));
    } else {
      put(0xF0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3F));
      put(0x80 | (point >> 6 & 0x3F));
    }
    put(0x80 | (point & 0x3F));
  }
  return utf8.text();
}

namespace {

// Calls `use(std::string_view)` with a wide text as UTF-8.
template <typename Use>
auto in_utf8(const wchar_t* text, const Use& use) noexcept {
  char buffer[NameTable::kLongTextBytes];
  return use(utf8_of(text, buffer));
}

void name_category(std::uint32_t domain, std::uint32_t category, std::string_view name) noexcept {
  const ThreadUse state = recorder().threads.use();
  if (!state) return;
  Event event;
  event.kind = EventKind::category_name;
  event.start_ns = event.end_ns = recorder().clock.now_ns();
  event.nvtx.name = state->name_of(name);
  event.nvtx.domain = domain;
  event.nvtx.category = category;
  state->emit(event);
}

void name_thread(std::uint32_t thread, std::string_view name) noexcept {
  const ThreadUse state = recorder().threads.use();
  if (!state) return;
  Event event;
  event.kind = EventKind::thread_name;
  event.start_ns = event.end_ns = recorder().clock.now_ns();
  event.thread.name = state->name_of(name);
  event.thread.id = thread;
  state->emit(event);
}

nvtxDomainHandle_t create_domain(std::string_view name, nvtxDomainHandle_t chained) noexcept {
  Recorder& own = recorder();
  const std::uint32_t id = own.add_domain(own.names.intern(name));
  note_domain(name, id);
  if (chained != nullptr) keep_chained(g_chained_domains, bits_of(chained), id);
  own.threads.emit_lock_wait();
  return chained != nullptr ? chained : handle_of<nvtxDomainHandle_t>(kDomainTag, id);
}

nvtxStringHandle_t register_string(std::string_view text, nvtxStringHandle_t chained) noexcept {
  Recorder& own = recorder();
  const std::uint32_t name = own.names.intern(text);
  if (chained != nullptr) keep_chained(g_chained_strings, bits_of(chained), name);
  own.threads.emit_lock_wait();
  return chained != nullptr ? chained : handle_of<nvtxStringHandle_t>(kStringTag, name);
}

void on_name_category_a(std::uint32_t category, const char* name) noexcept {
  chain_core<nvtxNameCategoryA_impl_fntype>(NVTX_CBID_CORE_NameCategoryA, category, name);
  name_category(0, category, bounded_text(name));
}
void on_name_category_w(std::uint32_t category, const wchar_t* name) noexcept {
  chain_core<nvtxNameCategoryW_impl_fntype>(NVTX_CBID_CORE_NameCategoryW, category, name);
  in_utf8(name, [=](std::string_view text) { name_category(0, category, text); });
}
void on_name_thread_a(std::uint32_t thread, const char* name) noexcept {
  chain_core<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA, thread, name);
  name_thread(thread, bounded_text(name));
}
void on_name_thread_w(std::uint32_t thread, const wchar_t* name) noexcept {
  chain_core<nvtxNameOsThreadW_impl_fntype>(NVTX_CBID_CORE_NameOsThreadW, thread, name);
  in_utf8(name, [=](std::string_view text) { name_thread(thread, text); });
}
void on_domain_name_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) noexcept {
  chain_core2<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA,
                                                   chained_domain(domain), category, name);
  name_category(domain_of(domain), category, bounded_text(name));
}
void on_domain_name_category_w(nvtxDomainHandle_t domain, std::uint32_t category,
                               const wchar_t* name) noexcept {
  chain_core2<nvtxDomainNameCategoryW_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryW,
                                                   chained_domain(domain), category, name);
  in_utf8(name, [=](std::string_view text) { name_category(domain_of(domain), category, text); });
}
nvtxStringHandle_t on_register_string_a(nvtxDomainHandle_t domain, const char* text) noexcept {
  const auto chained = chain_core2<nvtxDomainRegisterStringA_impl_fntype>(
      NVTX_CBID_CORE2_DomainRegisterStringA, chained_domain(domain), text);
  return register_string(bounded_text(text), chained);
}
nvtxStringHandle_t on_register_string_w(nvtxDomainHandle_t domain, const wchar_t* text) noexcept {
  const auto chained = chain_core2<nvtxDomainRegisterStringW_impl_fntype>(
      NVTX_CBID_CORE2_DomainRegisterStringW, chained_domain(domain), text);
  return in_utf8(text, [chained](std::string_view utf8) { return register_string(utf8, chained); });
}
nvtxDomainHandle_t on_domain_create_a(const char* name) noexcept {
  const auto chained = chain_core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA, name);
  return create_domain(bounded_text(name), chained);
}
nvtxDomainHandle_t on_domain_create_w(const wchar_t* name) noexcept {
  const auto chained = chain_core2<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW, name);
  return in_utf8(name, [chained](std::string_view utf8) { return create_domain(utf8, chained); });
}
// We keep the domain: it may have open ranges, and may be created again.
void on_domain_destroy(nvtxDomainHandle_t domain) noexcept {
  chain_core2<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy, chained_domain(domain));
}

template <typename Function>
NvtxFunctionPointer domain_slot(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

void add_domain_handlers(HandlerTables& tables) noexcept {
  tables.core[NVTX_CBID_CORE_NameCategoryA] = domain_slot(on_name_category_a);
  tables.core[NVTX_CBID_CORE_NameCategoryW] = domain_slot(on_name_category_w);
  tables.core[NVTX_CBID_CORE_NameOsThreadA] = domain_slot(on_name_thread_a);
  tables.core[NVTX_CBID_CORE_NameOsThreadW] = domain_slot(on_name_thread_w);
  tables.core2[NVTX_CBID_CORE2_DomainNameCategoryA] = domain_slot(on_domain_name_category_a);
  tables.core2[NVTX_CBID_CORE2_DomainNameCategoryW] = domain_slot(on_domain_name_category_w);
  tables.core2[NVTX_CBID_CORE2_DomainRegisterStringA] = domain_slot(on_register_string_a);
  tables.core2[NVTX_CBID_CORE2_DomainRegisterStringW] = domain_slot(on_register_string_w);
  tables.core2[NVTX_CBID_CORE2_DomainCreateA] = domain_slot(on_domain_create_a);
  tables.core2[NVTX_CBID_CORE2_DomainCreateW] = domain_slot(on_domain_create_w);
  tables.core2[NVTX_CBID_CORE2_DomainDestroy] = domain_slot(on_domain_destroy);
}

}  // namespace rangefinder
