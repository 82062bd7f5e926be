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

#include "tests/nvtx_tool.h"

namespace {

using test::set;

using Clock = std::chrono::steady_clock;

int wait_a_little() {
  static const auto pause = [] {
    const char* const text = std::getenv("PAUSE_US");
    return std::chrono::microseconds(text == nullptr ? 100 : std::atol(text));
  }();
  for (const auto until = Clock::now() + pause; Clock::now() < until;) continue;
  return 0;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get) {
  NvtxFunctionTable const table = test::nvtx_table(get, NVTX_CB_MODULE_CORE);
  if (table == nullptr) return 0;
  set(
      table, NVTX_CBID_CORE_RangePushA, +[](const char*) { return wait_a_little(); });
  set(
      table, NVTX_CBID_CORE_RangePushEx, +[](const nvtxEventAttributes_t*) { return wait_a_little(); });
  return 1;
}
}
