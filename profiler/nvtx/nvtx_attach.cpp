// SPDX-License-Identifier: Apache-2.0
//
// Writes our function pointers into the tables of one NVTX instance.
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

// Called before NVTX gets a pointer of ours, so that no signal handler finds a half-constructed object.
void prepare() noexcept {
  (void)handlers();
  load_chained_tool();
}

NvtxFunctionPointer handler_of(unsigned module, unsigned id) noexcept {
  NvtxFunctionPointer own = nullptr;
  if (module == NVTX_CB_MODULE_CORE && id < handlers().core.size()) own = handlers().core[id];
  if (module == NVTX_CB_MODULE_CORE2 && id < handlers().core2.size()) own = handlers().core2[id];
  if (own != nullptr) return own;
  // We do not record it (for example names of streams), but a chained tool may.
  const ChainedTool* const tool = chained_tool();
  return tool != nullptr && id < ChainedTool::kSlots ? tool->modules[module][id] : nullptr;
}

int attach(NvtxGetExportTableFunc_t get_export_table) noexcept {
  // If the chained tool initialises us with our own tables, it would be called from itself.
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
  // The structures of later 1.x versions only append fields.
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
