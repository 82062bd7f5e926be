// SPDX-License-Identifier: Apache-2.0
//
// A libcupti with one function, which returns the version in FAKE_CUPTI_VERSION.
// Built with libcupti's soname, because the loader finds a mapped copy by it.
#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(std::uint32_t* version) {
  constexpr int kSuccess = 0, kInvalidParameter = 1;
  const char* const text = std::getenv("FAKE_CUPTI_VERSION");
  if (text == nullptr) return kInvalidParameter;
  *version = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  return kSuccess;
}
