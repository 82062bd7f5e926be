// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/nvtx_chain.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "profiler/nvtx/nvtx.h"

namespace rangefinder {
namespace {

enum class State : int { unset, set, loading, done };

std::atomic<State> g_state{State::unset};
std::atomic<bool> g_payload_attached{false};
std::atomic<const char*> g_problem{nullptr};
char g_path[4096];          // written before g_state becomes `set`
char g_problem_text[8192];  // written before g_problem
ChainedTool g_slots;
// In the format of NVTX: tables of pointers to slots.
std::array<std::array<NvtxFunctionPointer*, ChainedTool::kSlots>, ChainedTool::kModules> g_tables;

// Number of callback ids of a module, including 0, like NVTX's own function.
unsigned slots_of(NvtxCallbackModule module) noexcept {
  switch (module) {
    case NVTX_CB_MODULE_CORE:
      return NVTX_CBID_CORE_SIZE;
    case NVTX_CB_MODULE_CUDA:
      return NVTX_CBID_CUDA_SIZE;
    case NVTX_CB_MODULE_OPENCL:
      return NVTX_CBID_OPENCL_SIZE;
    case NVTX_CB_MODULE_CUDART:
      return NVTX_CBID_CUDART_SIZE;
    case NVTX_CB_MODULE_CORE2:
      return NVTX_CBID_CORE2_SIZE;
    case NVTX_CB_MODULE_SYNC:
      return NVTX_CBID_SYNC_SIZE;
    default:
      return 0;
  }
}

int get_module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned int* size) noexcept {
  const unsigned count = slots_of(module);
  if (count == 0) return 0;
  if (table != nullptr) *table = g_tables[module].data();
  if (size != nullptr) *size = count;
  return 1;
}

const void* get_export_table(std::uint32_t id) noexcept {
  static const NvtxExportTableCallbacks callbacks{sizeof(NvtxExportTableCallbacks), get_module_table};
  static const NvtxExportTableVersionInfo version{sizeof(NvtxExportTableVersionInfo), NVTX_VERSION, 0,
                                                  [](std::uint32_t) {}};
  if (id == NVTX_ETID_CALLBACKS) return &callbacks;
  if (id == NVTX_ETID_VERSIONINFO) return &version;
  return nullptr;
}

const void* library_of(void* address) noexcept {
  Dl_info info{};
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Called only by the thread that set g_state to `loading`.
void set_problem(const char* path, const char* why, const char* details = "") noexcept {
  std::snprintf(
      g_problem_text, sizeof g_problem_text,
      "NVTX calls are not forwarded to %.4095s: %s%.2000s. They are still recorded. Correct or unset "
      "NVTX_INJECTION64_PATH or RANGEFINDER_NVTX_CHAIN, whichever is set to it.",
      path, why, details);
  g_problem.store(g_problem_text, std::memory_order_release);
}

void load() noexcept {
  void* const library = dlopen(g_path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const details = dlerror();
    return set_problem(g_path, "it cannot be loaded: ", details == nullptr ? "" : details);
  }
  void* const initialize = dlsym(library, "InitializeInjectionNvtx2");
  if (initialize == nullptr) return set_problem(g_path, "it has no InitializeInjectionNvtx2");
  // The variable may name our own library: then there is no other tool, and no problem.
  if (library_of(initialize) == library_of(reinterpret_cast<void*>(&nvtx_set_chain))) return;
  for (unsigned module = 0; module < ChainedTool::kModules; ++module) {
    const unsigned count = slots_of(static_cast<NvtxCallbackModule>(module));
    for (unsigned id = 1; id < count; ++id) g_tables[module][id] = &g_slots.modules[module][id];
  }
  if (reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(initialize)(get_export_table) == 0) {
    return set_problem(g_path, "its InitializeInjectionNvtx2 failed");
  }
  g_slots.initialize_extension =
      reinterpret_cast<NvtxExtInitializeInjectionFunc_t>(dlsym(library, "InitializeInjectionNvtxExtension"));
  g_chained_tool.store(&g_slots, std::memory_order_release);
}

}  // namespace

void nvtx_set_chain(const char* path) noexcept {
  if (path == nullptr || *path == '\0') return;
  State expected = State::unset;
  if (!g_state.compare_exchange_strong(expected, State::loading, std::memory_order_acq_rel)) return;
  if (std::strlen(path) >= sizeof g_path) {
    set_problem(path, "the path is too long");
    g_state.store(State::done, std::memory_order_release);
    return;
  }
  std::strcpy(g_path, path);
  g_state.store(State::set, std::memory_order_release);
}

const char* nvtx_chain_problem() noexcept {
  return g_problem.load(std::memory_order_acquire);
}

bool is_chain_table(NvtxGetExportTableFunc_t given) noexcept {
  return given == get_export_table;
}

void load_chained_tool() noexcept {
  State expected = State::set;
  if (g_state.load(std::memory_order_relaxed) != State::set) return;
  if (!g_state.compare_exchange_strong(expected, State::loading, std::memory_order_acq_rel)) return;
  load();
  g_state.store(State::done, std::memory_order_release);
}

void attach_chained_payload(const nvtxExtModuleInfo_t& module) noexcept {
  if (chained_tool() == nullptr || g_slots.initialize_extension == nullptr) return;
  if (g_payload_attached.exchange(true, std::memory_order_acq_rel)) return;
  static std::array<std::intptr_t, ChainedTool::kSlots> slots{};
  nvtxExtModuleSegment_t segment{module.segments[0].segmentId, ChainedTool::kSlots - 1, slots.data()};
  nvtxExtModuleInfo_t own = module;
  own.segmentsCount = 1;
  own.segments = &segment;
  if (g_slots.initialize_extension(&own) == 0) return;
  for (std::size_t id = 0; id < slots.size(); ++id) {
    g_slots.payload[id].store(slots[id], std::memory_order_release);
  }
}

}  // namespace rangefinder
