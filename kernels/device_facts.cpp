// SPDX-License-Identifier: Apache-2.0
#include "kernels/device_facts.h"

#include <array>
#include <mutex>

namespace rangefinder::kernels {
namespace {

constexpr int kMaxCachedDevices = 64;

cudaError_t read_facts(int device, DeviceFacts& facts) {
  int major = 0;
  int minor = 0;
  cudaError_t status = cudaDeviceGetAttribute(&facts.multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&facts.shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    device);
  facts.compute_capability = 10 * major + minor;
  return status;
}

}  // namespace

cudaError_t current_device_facts(DeviceFacts& facts) {
  static std::mutex mutex;
  static std::array<DeviceFacts, kMaxCachedDevices>
      known;  // guarded by mutex; 0 multiprocessors: not read yet

  int device = 0;
  const cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  if (device >= kMaxCachedDevices) return read_facts(device, facts);
  {
    const std::lock_guard lock(mutex);
    if (known[static_cast<std::size_t>(device)].multiprocessors != 0) {
      facts = known[static_cast<std::size_t>(device)];
      return cudaSuccess;
    }
  }
  DeviceFacts read;  // outside the lock: two threads may both read the same facts
  const cudaError_t read_status = read_facts(device, read);
  if (read_status != cudaSuccess) return read_status;
  const std::lock_guard lock(mutex);
  facts = known[static_cast<std::size_t>(device)] = read;
  return cudaSuccess;
}

}  // namespace rangefinder::kernels
