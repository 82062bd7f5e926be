// SPDX-License-Identifier: Apache-2.0
//
// The NVTX tool that was there before us (design rule 7).
//
// It is initialised once, with tables of ours in which it leaves its function
// pointers; handlers call those beside doing their own work. Slots that we have no
// handler for get its pointer directly. A library is loaded without any lock of ours
// held, because its constructors may use NVTX: threads that use NVTX meanwhile go on
// without it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

struct ChainedTool {
  static constexpr unsigned kModules = NVTX_CB_MODULE_SIZE;
  static constexpr unsigned kSlots = 64;
  using Slots = std::array<NvtxFunctionPointer, kSlots>;
  std::array<Slots, kModules> modules{};  ///< [NvtxCallbackModule][callback id]
  /// Of the payload extension, which attaches later; 0, 1: none.
  std::array<std::atomic<std::intptr_t>, kSlots> payload{};
  NvtxExtInitializeInjectionFunc_t initialize_extension = nullptr;
};

/// nullptr: there is none, or not yet. One load.
[[nodiscard]] const ChainedTool* chained_tool() noexcept;

/// Loads the tool that nvtx_set_chain() named, the first time; returns at once afterwards.
void load_chained_tool() noexcept;
/// Lets it attach to the payload extension, the first time.
void attach_chained_payload(const nvtxExtModuleInfo_t& module) noexcept;
/// Is `get_export_table` the one that we give to the chained tool?
[[nodiscard]] bool is_chain_table(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// Calls a slot of the chained tool; a value-initialised result where there is nothing to call.
template <typename Function, typename... Arguments>
auto call_slot(NvtxFunctionPointer slot, Arguments... arguments) noexcept {
  using Result = std::invoke_result_t<Function, Arguments...>;
  if (slot == nullptr) return Result();
  return reinterpret_cast<Function>(slot)(arguments...);
}

template <typename Function, typename... Arguments>
auto chain_core(NvtxCallbackIdCore id, Arguments... arguments) noexcept {
  const ChainedTool* const tool = chained_tool();
  NvtxFunctionPointer const slot = tool == nullptr ? nullptr : tool->modules[NVTX_CB_MODULE_CORE][id];
  return call_slot<Function>(slot, arguments...);
}

template <typename Function, typename... Arguments>
auto chain_core2(NvtxCallbackIdCore2 id, Arguments... arguments) noexcept {
  const ChainedTool* const tool = chained_tool();
  NvtxFunctionPointer const slot = tool == nullptr ? nullptr : tool->modules[NVTX_CB_MODULE_CORE2][id];
  return call_slot<Function>(slot, arguments...);
}

template <typename Function, typename... Arguments>
auto chain_payload(unsigned id, Arguments... arguments) noexcept {
  const ChainedTool* const tool = chained_tool();
  const std::intptr_t slot = tool == nullptr ? 0 : tool->payload[id].load(std::memory_order_acquire);
  return call_slot<Function>(slot == 1 ? nullptr : reinterpret_cast<NvtxFunctionPointer>(slot), arguments...);
}

}  // namespace rangefinder
