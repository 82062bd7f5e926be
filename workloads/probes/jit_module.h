// SPDX-License-Identifier: Apache-2.0
//
// A module with one empty kernel, compiled from PTX at run time, as JIT compilers do.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

#include "workloads/probes/driver_function.h"

namespace rangefinder::probe {

/// The driver's functions for modules and libraries.
struct ModuleApi {
  decltype(&cuModuleLoadData) load = driver_function<decltype(&cuModuleLoadData)>("cuModuleLoadData");
  decltype(&cuModuleGetFunction) get = driver_function<decltype(&cuModuleGetFunction)>("cuModuleGetFunction");
  decltype(&cuLaunchKernel) launch = driver_function<decltype(&cuLaunchKernel)>("cuLaunchKernel");
  decltype(&cuLibraryLoadData) load_library =
      driver_function<decltype(&cuLibraryLoadData)>("cuLibraryLoadData");
  decltype(&cuLibraryGetKernel) get_kernel =
      driver_function<decltype(&cuLibraryGetKernel)>("cuLibraryGetKernel");
  decltype(&cuLibraryUnload) unload_library = driver_function<decltype(&cuLibraryUnload)>("cuLibraryUnload");
  decltype(&cuModuleUnload) unload = driver_function<decltype(&cuModuleUnload)>("cuModuleUnload");
};

/// Loads in the constructor, unloads in the destructor. Errors end the program.
class JitModule {
 public:
  /// `parameters`: of 8 bytes each, at most two; distinguishes kernels of one name. `as_library`: uses the
  /// driver's library functions; libraries belong to no context.
  JitModule(const ModuleApi& cuda, const std::string& name, unsigned parameters, bool as_library)
      : cuda_(cuda) {
    if (as_library) {
      const std::string text = ptx(name, parameters);
      CUkernel kernel = nullptr;
      check_driver(cuda_.load_library(&library_, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                   "cuLibraryLoadData");
      check_driver(cuda_.get_kernel(&kernel, library_, name.c_str()), "cuLibraryGetKernel");
      function_ = reinterpret_cast<CUfunction>(kernel);  // the driver's documentation allows this cast
      return;
    }
    check_driver(cuda_.load(&module_, ptx(name, parameters).c_str()), "cuModuleLoadData");
    check_driver(cuda_.get(&function_, module_, name.c_str()), "cuModuleGetFunction");
  }
  ~JitModule() {
    if (library_ != nullptr) {
      check_driver(cuda_.unload_library(library_), "cuLibraryUnload");
    } else {
      check_driver(cuda_.unload(module_), "cuModuleUnload");
    }
  }
  JitModule(const JitModule&) = delete;
  JitModule& operator=(const JitModule&) = delete;

  void launch(CUstream stream = nullptr) const {
    std::uint64_t value = 0;
    void* arguments[2] = {&value, &value};
    check_driver(cuda_.launch(function_, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
  }

 private:
  static std::string ptx(const std::string& name, unsigned parameters) {
    std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry " + name + "(";
    for (unsigned i = 0; i < parameters; ++i) {
      text += (i == 0 ? "" : ", ") + std::string(".param .u64 p") + std::to_string(i);
    }
    return text + ")\n{\n  ret;\n}\n";
  }

  const ModuleApi& cuda_;
  CUmodule module_ = nullptr;
  CUlibrary library_ = nullptr;
  CUfunction function_ = nullptr;
};

}  // namespace rangefinder::probe
