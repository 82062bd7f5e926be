// SPDX-License-Identifier: Apache-2.0
//
// An NVTX tool that waits before each range begins. In a program with a range around each launch, kernels are
// then so far apart that every hardware sample holds at most one of them.
//
//   NVTX_INJECTION64_PATH=libpausing_nvtx_tool.so PAUSE_US=100 rangefinder run … PROGRAM
//
// The profiler forwards its calls to it (RANGEFINDER_NVTX_CHAIN). The wait burns CPU: a sleep would take
// longer.
#include <chrono>
#include <cstdlib>

#include "profiler/nvtx/nvtx_headers.h"

namespace {

using Clock = std::chrono::steady_clock;

int wait_a_little() {
  static const auto pause = [] {
    const char* const text = std::getenv("PAUSE_US");
    return std::chrono::microseconds(text == nullptr ? 100 : std::atol(text));
  }();
  for (const auto until = Clock::now() + pause; Clock::now() < until;) continue;
  return 0;
}

template <typename Function>
void set(NvtxFunctionTable table, unsigned id, Function* function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  set(
      table, NVTX_CBID_CORE_RangePushA, +[](const char*) { return wait_a_little(); });
  set(
      table, NVTX_CBID_CORE_RangePushEx, +[](const nvtxEventAttributes_t*) { return wait_a_little(); });
  return 1;
}
}
