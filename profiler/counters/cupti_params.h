// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's parameter structs, zeroed except for the leading struct size.
#pragma once

#include <cstddef>

namespace rangefinder {

template <typename Params>
[[nodiscard]] Params cupti_params(std::size_t struct_size) noexcept {
  Params params{};
  params.structSize = struct_size;
  return params;
}

}  // namespace rangefinder

/// CUpti_<name>_Params with its structSize set.
#define RANGEFINDER_CUPTI_PARAMS(name) \
  ::rangefinder::cupti_params<CUpti_##name##_Params>(CUpti_##name##_Params_STRUCT_SIZE)
