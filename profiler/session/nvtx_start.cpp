// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/nvtx_start.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

#include "profiler/events/recorder.h"
#include "profiler/guest/environment.h"
#include "profiler/guest/signals_blocked.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/options/options.h"

namespace rangefinder {
namespace {

constexpr const char* kNvtxVariable = "NVTX_INJECTION64_PATH";

/// The file that this code was loaded from.
std::string own_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&prepare_nvtx), &info) == 0 || info.dli_fname == nullptr)
    return {};
  char* const absolute = realpath(info.dli_fname, nullptr);
  std::string path = absolute != nullptr ? absolute : info.dli_fname;
  std::free(absolute);
  return path;
}

bool is_own_path(const char* path) {
  char* const absolute = realpath(path, nullptr);
  const bool same = absolute != nullptr && own_path() == absolute;
  std::free(absolute);
  return same;
}

}  // namespace

void prepare_nvtx() noexcept {
  static std::once_flag once;
  const SignalsBlocked blocked;  // a signal handler that calls NVTX here would wait for its own thread
  try {
    std::call_once(once, [] {
      // Not kept for start_from_environment(): until then the program may change its environment.
      const Options options = read_options(environ);
      nvtx_set_chain(options.nvtx_chain.c_str());
      recorder().fold_digits.store(options.fold_digits, std::memory_order_relaxed);
      recorder().threads.set_inheriting(options.inherit);
      // Events before CUDA's start belong to the first window only if it begins by itself.
      if (!options.starts_recording())
        recorder().record_until_ns.store(Recorder::kNever, std::memory_order_relaxed);
    });
  } catch (...) {
    // The chain stays unset; our own handlers work.
  }
}

void set_nvtx_variable() {
  const char* const before = std::getenv(kNvtxVariable);
  const std::string self = own_path();
  if (self.empty() || (before != nullptr && is_own_path(before))) return;
  if (before != nullptr && *before != '\0') nvtx_set_chain(before);
  (void)set_environment(kNvtxVariable, self);
}

}  // namespace rangefinder
