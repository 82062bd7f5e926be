// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/gpu_query.h"

#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <string>

namespace rangefinder {
namespace {

struct Driver {
  decltype(&::cuDriverGetVersion) version = nullptr;
  decltype(&::cuDeviceGetCount) count = nullptr;
  decltype(&::cuDeviceGet) get = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) primary_state = nullptr;
  decltype(&::cuDeviceGetName) name = nullptr;
  decltype(&::cuDeviceGetUuid_v2) uuid = nullptr;
  decltype(&::cuDeviceTotalMem_v2) memory = nullptr;
  decltype(&::cuDeviceGetAttribute) attribute = nullptr;

  [[nodiscard]] bool complete() const noexcept {
    return count != nullptr && get != nullptr && name != nullptr && uuid != nullptr && memory != nullptr &&
           attribute != nullptr;
  }
};

Driver open_driver() {
  Driver driver;
  void* const handle = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return driver;
  const auto find = [handle](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
  };
  find(driver.version, "cuDriverGetVersion");
  find(driver.count, "cuDeviceGetCount");
  find(driver.get, "cuDeviceGet");
  find(driver.primary_state, "cuDevicePrimaryCtxGetState");
  find(driver.name, "cuDeviceGetName");
  find(driver.uuid, "cuDeviceGetUuid_v2");
  find(driver.memory, "cuDeviceTotalMem_v2");
  find(driver.attribute, "cuDeviceGetAttribute");
  return driver;
}

std::string uuid_text(const CUuuid& uuid, bool mig) {
  std::string text = mig ? "MIG-" : "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char hex[3];
    std::snprintf(hex, sizeof(hex), "%02x", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += hex;
  }
  return text;
}

GpuRecord query_gpu(const Driver& driver, int ordinal) {
  GpuRecord gpu;
  gpu.id = static_cast<std::uint32_t>(ordinal);
  CUdevice device = 0;
  if (driver.get(&device, ordinal) != CUDA_SUCCESS) return gpu;
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    return driver.attribute(&value, which, device) == CUDA_SUCCESS && value > 0
               ? static_cast<std::uint32_t>(value)
               : 0u;
  };
  std::array<char, 256> name{};
  if (driver.name(name.data(), static_cast<int>(name.size()) - 1, device) == CUDA_SUCCESS)
    gpu.name = name.data();
  // The driver names a MIG instance after its profile: "NVIDIA H200 MIG 1g.18gb".
  gpu.mig = gpu.name.find(" MIG ") != std::string::npos;
  CUuuid uuid{};
  if (driver.uuid(&uuid, device) == CUDA_SUCCESS) gpu.uuid = uuid_text(uuid, gpu.mig);
  std::size_t memory_bytes = 0;
  if (driver.memory(&memory_bytes, device) == CUDA_SUCCESS) gpu.memory_bytes = memory_bytes;

  gpu.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  gpu.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  gpu.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const std::uint32_t warp = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  if (warp != 0) gpu.warps_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / warp;
  gpu.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  gpu.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  gpu.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  gpu.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  gpu.memory_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  gpu.sm_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  // Two transfers per clock: all memory of these GPUs is double data rate.
  gpu.peak_dram_bytes_per_s = gpu.memory_clock_khz * 1000 * 2 * gpu.memory_bus_bits / 8;
  gpu.peak_flops = peak_flops(gpu.compute_major, gpu.compute_minor, gpu.sm_count, gpu.sm_clock_khz);
  return gpu;
}

// FLOP per SM and clock; a multiply-add counts as two. Plain fp16 and fp32: CUDA C++ Programming
// Guide, "Throughput of Native Arithmetic Instructions" (times 2). Tensor cores, dense: NVIDIA's
// architecture papers for A100, GA102, AD102 and H100 (peak rate / SMs / boost clock).
struct Rates {
  std::uint32_t major, minor;
  double fp64, fp32, fp64_tensor, tf32_tensor, fp16_tensor, fp8_tensor, int8_tensor;
};

constexpr std::array kRates{
    Rates{8, 0, 64, 128, 128, 1024, 2048, 0, 4096},
    Rates{8, 6, 4, 256, 0, 256, 512, 0, 2048},
    Rates{8, 9, 4, 256, 0, 256, 512, 1024, 2048},
    Rates{9, 0, 128, 256, 256, 2048, 4096, 8192, 8192},
};

}  // namespace

std::vector<std::pair<std::string, double>> peak_flops(std::uint32_t major, std::uint32_t minor,
                                                       std::uint32_t sm_count, std::uint64_t clock_khz) {
  std::vector<std::pair<std::string, double>> out;
  for (const Rates& rates : kRates) {
    if (rates.major != major || rates.minor != minor) continue;
    const double clocks = static_cast<double>(sm_count) * static_cast<double>(clock_khz) * 1000.0;
    const auto add = [&](const char* type, double rate) {
      if (rate != 0) out.emplace_back(type, rate * clocks);
    };
    add("fp64", rates.fp64);
    add("fp32", rates.fp32);
    add("fp64_tensor", rates.fp64_tensor);
    add("tf32_tensor", rates.tf32_tensor);
    add("fp16_tensor", rates.fp16_tensor);
    add("bf16_tensor", rates.fp16_tensor);
    add("fp8_tensor", rates.fp8_tensor);
    add("int8_tensor", rates.int8_tensor);
  }
  return out;
}

bool driver_is_ready() {
  const Driver driver = open_driver();
  int count = 0;
  return driver.count == nullptr || driver.count(&count) != CUDA_ERROR_NOT_INITIALIZED;
}

bool has_primary_context() {
  const Driver driver = open_driver();
  int count = 0, active = 0;
  unsigned flags = 0;
  if (driver.count == nullptr || driver.primary_state == nullptr || driver.count(&count) != CUDA_SUCCESS)
    return false;
  for (CUdevice gpu = 0; gpu < count && active == 0; ++gpu) {
    if (driver.primary_state(gpu, &flags, &active) != CUDA_SUCCESS) active = 0;
  }
  return active != 0;
}

std::vector<GpuRecord> query_gpus() {
  std::vector<GpuRecord> gpus;
  const Driver driver = open_driver();
  int count = 0;
  if (!driver.complete() || driver.count(&count) != CUDA_SUCCESS) return gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(query_gpu(driver, i));
  return gpus;
}

std::int32_t query_driver_version() {
  const Driver driver = open_driver();
  int version = 0;
  if (driver.version == nullptr || driver.version(&version) != CUDA_SUCCESS) return 0;
  return version;
}

std::int32_t query_runtime_version() {
  for (const char* const name : {"libcudart.so.13", "libcudart.so.12"}) {
    void* const handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    using GetVersion = int(int*);  // 0: success
    auto* const get = reinterpret_cast<GetVersion*>(dlsym(handle, "cudaRuntimeGetVersion"));
    int version = 0;
    const bool known = get != nullptr && get(&version) == 0;
    dlclose(handle);  // the application's own handles keep it loaded
    if (known) return version;
  }
  return 0;
}

}  // namespace rangefinder
