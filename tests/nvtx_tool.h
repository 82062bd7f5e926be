// SPDX-License-Identifier: Apache-2.0
//
// What NVTX tools of tests have in common: InitializeInjectionNvtx2() gets NVTX's tables and sets its
// functions.
#pragma once

#include "profiler/nvtx/nvtx_headers.h"

namespace test {

/// The functions of a module (NVTX_CB_MODULE_*); nullptr: this NVTX has none.
inline NvtxFunctionTable nvtx_table(NvtxGetExportTableFunc_t get, NvtxCallbackModule module) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  return callbacks->GetModuleFunctionTable(module, &table, &size) == 0 ? nullptr : table;
}

template <typename Function>
void set(NvtxFunctionTable table, unsigned id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace test
