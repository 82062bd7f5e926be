// SPDX-License-Identifier: Apache-2.0
//
// Facts about the current device from which launchers choose a tile or a kernel. Read once per device and
// cached. Any thread may call it, also during stream capture (attribute queries are allowed there).
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::kernels {

struct DeviceFacts {
  int multiprocessors = 0;
  int compute_capability = 0;      ///< 10 * major + minor: 80, 90
  int shared_bytes_per_block = 0;  ///< the opt-in maximum of a kernel
};

/// Whether this build has native Hopper code for this device: wgmma, tensor maps, programmatic dependent
/// launch. The code for 8.0 that the driver compiles for a later GPU has none of them.
constexpr bool has_hopper_code(const DeviceFacts& facts) {
#if defined(RANGEFINDER_KERNELS_FOR_90A)
  return facts.compute_capability == 90;
#else
  return facts.compute_capability < 0;
#endif
}

/// Facts of the current device. On failure `facts` is untouched.
cudaError_t current_device_facts(DeviceFacts& facts);

}  // namespace rangefinder::kernels
