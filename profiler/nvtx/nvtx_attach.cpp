// SPDX-License-Identifier: Apache-2.0
//
// Puts our function pointers into the tables of one instance of NVTX.
#include <algorithm>

#include "profiler/events/recorder.h"
#include "profiler/guest/never_destroyed.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/nvtx/nvtx_chain.h"
#include "profiler/nvtx/nvtx_handlers.h"
#include "profiler/nvtx/nvtx_handles.h"
#include "profiler/nvtx/open_ranges.h"
#include "profiler/nvtx/payload_schemas.h"

namespace rangefinder {
namespace {

struct Handlers : HandlerTables {
  Handlers() noexcept {
    add_range_handlers(*this);
    add_domain_handlers(*this);
    ForkLocks& locks = recorder().fork_locks;
    locks.add(handles_mutex());
    locks.add(payload_schemas().mutex());
    open_ranges().add_to(locks);
  }
};

const HandlerTables& handlers() noexcept {
  return never_destroyed<Handlers>();
}

// Before NVTX has a pointer of ours, so that no handler of a signal finds anything half made.
void prepare() noexcept {
  (void)handlers();
  load_chained_tool();
}

NvtxFunctionPointer handler_of(unsigned module, unsigned id) noexcept {
  NvtxFunctionPointer own = nullptr;
  if (module == NVTX_CB_MODULE_CORE && id < handlers().core.size()) own = handlers().core[id];
  if (module == NVTX_CB_MODULE_CORE2 && id < handlers().core2.size()) own = handlers().core2[id];
  if (own != nullptr) return own;
  // No work of ours: names of streams and the like. A chained tool may still want it.
  const ChainedTool* const tool = chained_tool();
  return tool != nullptr && id < ChainedTool::kSlots ? tool->modules[module][id] : nullptr;
}

int attach(NvtxGetExportTableFunc_t get_export_table) noexcept {
  // Should the chained tool end up here, it must not be fed by itself.
  if (get_export_table == nullptr || is_chain_table(get_export_table)) return 0;
  prepare();
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks ||
      callbacks->GetModuleFunctionTable == nullptr) {
    return 0;
  }
  for (unsigned module = NVTX_CB_MODULE_CORE; module < NVTX_CB_MODULE_SIZE; ++module) {
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->GetModuleFunctionTable(static_cast<NvtxCallbackModule>(module), &table, &size) == 0 ||
        table == nullptr) {
      continue;
    }
    for (unsigned id = 1; id < size; ++id) {
      NvtxFunctionPointer const handler = handler_of(module, id);
      if (handler != nullptr && table[id] != nullptr) *table[id] = handler;
    }
  }
  const auto* const version =
      static_cast<const NvtxExportTableVersionInfo*>(get_export_table(NVTX_ETID_VERSIONINFO));
  if (version != nullptr && version->struct_size >= sizeof *version &&
      version->SetInjectionNvtxVersion != nullptr) {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  return 1;
}

}  // namespace

int nvtx_initialize_v2(NvtxGetExportTableFunc_t get_export_table) noexcept {
  return attach(get_export_table);
}

int nvtx_initialize_v1(NvtxGetExportTableFunc_t get_export_table) noexcept {
  return attach(get_export_table);
}

int nvtx_initialize_extension(nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->structSize < sizeof *module) return 0;
  prepare();
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) {
    const ChainedTool* const tool = chained_tool();
    return tool == nullptr || tool->initialize_extension == nullptr ? 0 : tool->initialize_extension(module);
  }
  // The structures of 1.x extend each other.
  if (module->compatId >> 8 != NVTX_EXT_PAYLOAD_COMPATID >> 8 || module->segmentsCount == 0 ||
      module->segments == nullptr || module->segments[0].functionSlots == nullptr) {
    return 0;
  }
  payload_schemas().set_types(static_cast<const nvtxPayloadEntryTypeInfo_t*>(module->extInfo));
  attach_chained_payload(*module);
  const ChainedTool* const tool = chained_tool();
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  for (unsigned id = 0; id < std::min<std::size_t>(segment.slotCount, ChainedTool::kSlots - 1); ++id) {
    std::intptr_t handler = payload_handler(id);
    if (handler == 0 && tool != nullptr) handler = tool->payload[id].load(std::memory_order_acquire);
    if (handler > 1) segment.functionSlots[id] = handler;
  }
  return 1;
}

}  // namespace rangefinder
