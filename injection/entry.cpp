// SPDX-License-Identifier: Apache-2.0
//
// The exported functions of this library: the CUDA driver and NVTX call them by name.
//
//   cuInit, with CUDA_INJECTION64_PATH ────────▶ InitializeInjection
//   first NVTX call of a shared object,
//   with NVTX_INJECTION64_PATH ────────────────▶ InitializeInjectionNvtx2 (NVTX 3)
//                                                InitializeInjectionNvtxExtension (payloads)
//                                                InitializeInjectionNvtx (libnvToolsExt.so)
//
// No exception leaves these functions, and they never exit. Only session.cpp and the two
// refusals below print a message. A failure in here must not affect the application.

#include <sys/auxv.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include "profiler/events/recorder.h"
#include "profiler/guest/log.h"
#include "profiler/guest/sanitizer_runtime.h"
#include "profiler/guest/slow_path.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/session/nvtx_start.h"
#include "profiler/session/session.h"

#define RANGEFINDER_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr int kRefused = 0;  // NVTX continues without a tool

/// With less memory than this nothing starts: not even an exception could be thrown.
constexpr std::size_t kMinMemoryBytes = std::size_t{1} << 20;

/// False for a program with more rights than its user (setuid, file capabilities): the user controls the
/// environment, and would choose where we write.
bool is_trusted() noexcept {
  return getauxval(AT_SECURE) == 0;
}

bool may_record() noexcept {
  return is_trusted() && rangefinder::sanitizer_that_misjudges_us() == nullptr;
}

void say_why_not() noexcept {
  if (!is_trusted()) {
    rangefinder::say_once("a setuid program is not recorded: its environment comes from another user");
    return;
  }
  try {
    rangefinder::say_once("a program built with " + std::string(rangefinder::sanitizer_that_misjudges_us()) +
                          " is not recorded: the sanitizer would report false positives");
  } catch (...) {
  }
}

bool has_memory() noexcept {
  void* const memory = std::malloc(kMinMemoryBytes);
  std::free(memory);
  return memory != nullptr;
}

void start_session() noexcept {
  if (!may_record()) say_why_not();
  if (!may_record() || !has_memory()) {
    rangefinder::recorder().silent.store(true, std::memory_order_relaxed);
    return;
  }
  try {
    // Not registered with atexit() here: handlers registered this early run after the driver's
    // own. The session registers its stop once a context exists.
    static rangefinder::Session* const session = rangefinder::Session::start_from_environment();
    (void)session;
  } catch (...) {
    // Out of memory at the start: the program runs without being recorded.
  }
}

template <typename Argument>
int initialize_nvtx(int (*initialize)(Argument) noexcept, Argument argument) noexcept {
  if (!may_record()) return kRefused;
  return rangefinder::slow_path([&] {
    rangefinder::prepare_nvtx();
    return initialize(argument);
  });
}

}  // namespace

RANGEFINDER_EXPORT int InitializeInjection() noexcept {
  constexpr int kLoaded = 1;  // also on failure: our failure must never look like the application's
  rangefinder::slow_path(start_session);
  return kLoaded;
}

RANGEFINDER_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) noexcept {
  return initialize_nvtx(rangefinder::nvtx_initialize_v2, get_export_table);
}

RANGEFINDER_EXPORT int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_export_table) noexcept {
  return initialize_nvtx(rangefinder::nvtx_initialize_v1, get_export_table);
}

RANGEFINDER_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) noexcept {
  return initialize_nvtx(rangefinder::nvtx_initialize_extension, module);
}
