// SPDX-License-Identifier: Apache-2.0
//
// Another NVTX tool that was set before ours, the chained tool (design rule 7).
//
// It is initialised once and writes its function pointers into tables of ours. Our
// handlers call them in addition to their own work; slots without a handler get its
// pointer directly. Its library is loaded without a lock, because its constructors may
// use NVTX: threads that use NVTX meanwhile continue without it.
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
  /// Of the payload extension, which is attached later; 0 and 1: none.
  std::array<std::atomic<std::intptr_t>, kSlots> payload{};
  NvtxExtInitializeInjectionFunc_t initialize_extension = nullptr;
};

inline std::atomic<const ChainedTool*> g_chained_tool{nullptr};  // set once, by load_chained_tool()

/// nullptr: there is none, or it is not loaded yet.
[[nodiscard]] inline const ChainedTool* chained_tool() noexcept {
  return g_chained_tool.load(std::memory_order_acquire);
}

/// Loads the tool that nvtx_set_chain() set, on the first call; later calls return at once.
void load_chained_tool() noexcept;
/// Attaches the tool to the payload extension, on the first call.
void attach_chained_payload(const nvtxExtModuleInfo_t& module) noexcept;
/// Whether `get_export_table` is the function that we pass to the chained tool.
[[nodiscard]] bool is_chain_table(NvtxGetExportTableFunc_t get_export_table) noexcept;

/// Calls a slot of the chained tool; returns a value-initialised result if the slot is empty.
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
