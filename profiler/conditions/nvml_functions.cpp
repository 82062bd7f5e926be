// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/nvml_functions.h"

#include <dlfcn.h>

namespace rangefinder {
namespace {

constexpr const char* kNvmlSoname = "libnvidia-ml.so.1";
/// The name of DeviceGetCurrentClocksEventReasons before driver 535.
constexpr const char* kOlderClocksEventReasons = "nvmlDeviceGetCurrentClocksThrottleReasons";

template <typename Function>
void resolve_nvml(void* library, const char* symbol, Function*& function) noexcept {
  if (function == nullptr) function = reinterpret_cast<Function*>(dlsym(library, symbol));
}

}  // namespace

NvmlFunctions load_nvml() noexcept {
  NvmlFunctions functions;
  void* const library = dlopen(kNvmlSoname, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return functions;
#define X(name, symbol, parameters) resolve_nvml(library, symbol, functions.name);
  RANGEFINDER_NVML_FUNCTIONS(X)
#undef X
  resolve_nvml(library, kOlderClocksEventReasons, functions.DeviceGetCurrentClocksEventReasons);
  return functions;
}

std::uint64_t nvml_field_value(const NvmlFieldValue& field) noexcept {
  // Numbers of nvmlValueType_t.
  constexpr int kDouble = 0, kUnsigned = 1, kSignedLongLong = 4, kSigned = 5;
  switch (field.value_type) {
    case kDouble:
      return field.value.real > 0 ? static_cast<std::uint64_t>(field.value.real) : 0;
    case kUnsigned:
      return field.value.u32;
    case kSigned:
      return field.value.i32 > 0 ? static_cast<std::uint64_t>(field.value.i32) : 0;
    case kSignedLongLong:
      return static_cast<long long>(field.value.u64) > 0 ? field.value.u64 : 0;
    default:  // unsigned long and unsigned long long
      return field.value.u64;
  }
}

}  // namespace rangefinder
