// SPDX-License-Identifier: Apache-2.0
//
// What launchers ask about the current device to choose a tile or a kernel. Read once a device and
// kept; any thread may ask, also while a stream is captured (attribute queries are allowed there).
#pragma once

#include <cuda_runtime_api.h>

namespace rangefinder::kernels {

struct DeviceFacts {
  int multiprocessors = 0;
  int compute_capability = 0;      ///< 10 * major + minor: 80, 90
  int shared_bytes_per_block = 0;  ///< the most that a kernel may opt in to
};

/// Facts of the current device. On failure `facts` is untouched.
cudaError_t current_device_facts(DeviceFacts& facts);

}  // namespace rangefinder::kernels
