// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/gpu_query.h"

#include <dlfcn.h>

#include <map>
#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

std::map<std::string, double> peaks(std::uint32_t major, std::uint32_t minor, std::uint32_t sms,
                                    std::uint64_t khz) {
  const auto list = peak_flops(major, minor, sms, khz);
  return {list.begin(), list.end()};
}

/// NVIDIA's figures are rounded.
Approx tera(double value) {
  return Approx(value * 1e12).epsilon(0.01);
}

bool is_mapped(const char* library) {
  void* const handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

bool driver_is_mapped() {
  return is_mapped("libcuda.so.1");
}

}  // namespace

TEST_CASE("the peaks of an A100 match its data sheet") {
  const auto peak = peaks(8, 0, 108, 1'410'000);

  CHECK(peak.at("fp64") == tera(9.7));
  CHECK(peak.at("fp32") == tera(19.5));
  CHECK(peak.at("fp64_tensor") == tera(19.5));
  CHECK(peak.at("tf32_tensor") == tera(156));
  CHECK(peak.at("fp16_tensor") == tera(312));
  CHECK(peak.at("bf16_tensor") == tera(312));
  CHECK(peak.at("int8_tensor") == tera(624));
  CHECK(peak.count("fp8_tensor") == 0);  // not on this chip
}

TEST_CASE("the dense tensor peaks of an H100 SXM match its data sheet") {
  const auto peak = peaks(9, 0, 132, 1'830'000);

  CHECK(peak.at("tf32_tensor") == tera(495));
  CHECK(peak.at("fp16_tensor") == tera(989.5));
  CHECK(peak.at("fp8_tensor") == tera(1979));
  CHECK(peak.at("int8_tensor") == tera(1979));
}

TEST_CASE("the plain peaks of an H100 SXM and an H200 match the data sheet") {
  const auto peak = peaks(9, 0, 132, 1'980'000);

  CHECK(peak.at("fp32") == tera(67));
  CHECK(peak.at("fp64") == tera(33.5));
  CHECK(peak.at("fp64_tensor") == tera(67));
}

TEST_CASE("the peaks of a GeForce RTX 3090 and 4090 match NVIDIA's architecture papers") {
  const auto ampere = peaks(8, 6, 82, 1'695'000);
  const auto ada = peaks(8, 9, 128, 2'520'000);

  CHECK(ampere.at("fp32") == tera(35.6));
  CHECK(ampere.at("tf32_tensor") == tera(35.6));
  CHECK(ampere.at("fp16_tensor") == tera(71));  // with fp32 accumulation
  CHECK(ampere.at("int8_tensor") == tera(284));
  CHECK(ada.at("fp32") == tera(82.6));
  CHECK(ada.at("fp16_tensor") == tera(165.2));
  CHECK(ada.at("fp8_tensor") == tera(330.3));
  CHECK(ada.at("int8_tensor") == tera(660.6));
}

TEST_CASE("a chip that is not in the table has no peaks") {
  CHECK(peak_flops(7, 0, 80, 1'530'000).empty());
  CHECK(peak_flops(9, 9, 132, 1'980'000).empty());
  CHECK(peak_flops(0, 0, 0, 0).empty());
}

TEST_CASE("without a driver there are no GPUs and no version, and the query loads none") {
  if (driver_is_mapped()) {
    WARN("skipped: libcuda is mapped into this process");
    return;
  }

  CHECK(query_gpus().empty());
  CHECK(query_driver_version() == 0);

  CHECK_FALSE(driver_is_mapped());
}

TEST_CASE("the version is that of the mapped runtime; the query loads none and keeps none loaded") {
  constexpr const char* kRuntime = "libcudart.so.13";
  if (is_mapped(kRuntime) || is_mapped("libcudart.so.12")) {
    WARN("skipped: a CUDA runtime is mapped into this process");
    return;
  }

  CHECK(query_runtime_version() == 0);
  CHECK_FALSE(is_mapped(kRuntime));

  void* runtime = dlopen(kRuntime, RTLD_LAZY | RTLD_LOCAL);
  if (runtime == nullptr) runtime = dlopen("/usr/local/cuda/lib64/libcudart.so.13", RTLD_LAZY | RTLD_LOCAL);
  if (runtime == nullptr) {
    WARN("the rest is skipped: " << dlerror());
    return;
  }
  CHECK(query_runtime_version() / 1000 == 13);
  dlclose(runtime);
  CHECK(query_runtime_version() == 0);  // our own query did not keep it loaded
}
