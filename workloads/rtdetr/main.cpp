// SPDX-License-Identifier: Apache-2.0
//
// rtdetr: the bundled workload. Prints one message on stderr if it cannot continue.
#include <cstdio>
#include <exception>
#include <new>

#include "workloads/rtdetr/gpu_backend.h"
#include "workloads/rtdetr/program.h"

namespace {

constexpr int kWrongInput = 2;
constexpr int kNoGpu = 3;

int fail(int exit_code, const char* message) {
  std::fprintf(stderr, "rtdetr: %s\n", message);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rangefinder::rtdetr;
  try {
    Options options;
    int exit_code = 0;
    if (parse_options(argc, argv, options, exit_code) == Parsed::stop) return exit_code;
    std::string why;
    if (!gpu_is_usable(why)) return fail(kNoGpu, ("there is no usable GPU: " + why).c_str());
    run_program(options);
    return 0;
  } catch (const GpuError& error) {
    return fail(kNoGpu, error.what());
  } catch (const std::bad_alloc&) {
    return fail(kNoGpu, "out of host memory");
  } catch (const std::exception& error) {
    return fail(kWrongInput, error.what());
  }
}
