// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/probe_program.h"

#include <cuda.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "profiler/guest/control_socket.h"
#include "tools/analysis/model/missing.h"
#include "tools/attach/control_client.h"

namespace rangefinder {
namespace {

/// alarm() kills this program if the driver hangs.
constexpr unsigned kTimeoutSeconds = 60;
constexpr int kSocketTimeoutMs = 5'000;
constexpr std::size_t kMemsetBytes = std::size_t{256} << 20;
constexpr unsigned kCaptured = 10;
constexpr const char* kEmptyKernel =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry rangefinder_probe() { ret; }\n";

class Driver {
 public:
  Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }
  /// `name` includes the version suffix.
  template <typename... Arguments, typename... Given>
  void call(const char* name, CUresult (*)(Arguments...), Given... given) const {
    const auto function = reinterpret_cast<CUresult (*)(Arguments...)>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(std::string(name) + " is not in the driver");
    if (const CUresult result = function(given...); result != CUDA_SUCCESS)
      throw std::runtime_error(std::string(name) + " gave " + std::to_string(static_cast<int>(result)));
  }

 private:
  void* library_;
};

// cuda.h defines names as macros that add a version suffix: expand before stringizing.
#define PROBE_TEXT(name) #name
#define PROBE_SYMBOL(name) PROBE_TEXT(name)
#define PROBE_CALL(driver, function, ...) \
  (driver).call(PROBE_SYMBOL(function), static_cast<decltype(&function)>(nullptr), __VA_ARGS__)

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

struct Gpu {
  explicit Gpu(const Driver& the_driver) : driver(the_driver) {
    CUdevice device = 0;
    CUmodule module = nullptr;
    PROBE_CALL(driver, cuInit, 0U);
    PROBE_CALL(driver, cuDeviceGet, &device, 0);
    PROBE_CALL(driver, cuCtxCreate, &context, nullptr, 0U, device);
    PROBE_CALL(driver, cuModuleLoadData, &module, kEmptyKernel);
    PROBE_CALL(driver, cuModuleGetFunction, &kernel, module, "rangefinder_probe");
    PROBE_CALL(driver, cuStreamCreate, &stream, 0U);
    PROBE_CALL(driver, cuMemAlloc, &memory, kMemsetBytes);
  }
  void launch() const {
    PROBE_CALL(driver, cuLaunchKernel, kernel, 1U, 1U, 1U, 32U, 1U, 1U, 0U, stream, nullptr, nullptr);
  }
  const Driver& driver;
  CUcontext context = nullptr;
  CUfunction kernel = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
};

void launch_graph(const Gpu& gpu) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  PROBE_CALL(gpu.driver, cuStreamBeginCapture, gpu.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  {
    const Range range("capture");
    for (unsigned i = 0; i < kCaptured; ++i) gpu.launch();
  }
  PROBE_CALL(gpu.driver, cuStreamEndCapture, gpu.stream, &graph);
  PROBE_CALL(gpu.driver, cuGraphInstantiate, &exec, graph, 0ULL);
  const Range range("replay");
  for (unsigned i = 0; i < kProbeGraphKernels / kCaptured; ++i)
    PROBE_CALL(gpu.driver, cuGraphLaunch, exec, gpu.stream);
}

void work() {
  const Driver driver;
  const Gpu gpu(driver);
  const Range probe("probe");
  {
    const Range range("kernels");
    for (std::uint64_t i = 0; i < kProbeKernels; ++i) gpu.launch();
  }
  launch_graph(gpu);
  {
    const Range range("bytes");
    for (std::uint64_t i = 0; i < kProbeBytes / kMemsetBytes; ++i)
      PROBE_CALL(driver, cuMemsetD8Async, gpu.memory, static_cast<unsigned char>(i), kMemsetBytes,
                 gpu.stream);
  }
  PROBE_CALL(driver, cuStreamSynchronize, gpu.stream);
}

/// The answer of the profiler in this process on its socket; "": no socket answers.
std::string control_state() {
  for (const std::string& folder : control_folders(std::getenv("XDG_RUNTIME_DIR"), geteuid())) {
    try {
      ControlClient client(folder + "/" + std::to_string(getpid()) + ".sock");
      return client.ask({{"command", "status"}}, kSocketTimeoutMs).value("state", "no state");
    } catch (const Missing&) {
      continue;
    }
  }
  return {};
}

}  // namespace

int run_probe_program(const std::string& answer_file) {
  alarm(kTimeoutSeconds);
  if (const int file = open((answer_file + ".err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      file >= 0)
    dup2(file, STDERR_FILENO);
  nlohmann::json answer;
  try {
    work();
    answer = {{"done", true}, {"control", control_state()}};
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  std::ofstream(answer_file) << answer.dump() << "\n";
  return answer.contains("error") ? 1 : 0;
}

}  // namespace rangefinder
