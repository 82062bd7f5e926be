// SPDX-License-Identifier: Apache-2.0
//
// How long launches wait for a configuration.
#include "profiler/counters/exact/exact_gpus.h"

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "tests/catch.h"
#include "tests/retried.h"

using namespace rangefinder;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kShort{1};  // shorter than kConfigPatience

CUcontext some_context() {
  static int place = 0;
  return reinterpret_cast<CUcontext>(&place);
}

CuptiLibrary library_without_memory() {
  CuptiLibrary library;
  library.functions.ProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) -> CUptiResult {
    throw std::bad_alloc();
  };
  return library;
}

CuptiLibrary library_that_refuses() {
  CuptiLibrary library;
  library.functions.ProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return CUPTI_ERROR_NOT_SUPPORTED;
  };
  return library;
}

std::atomic<bool> loading{false};  // simulates a thread that waits for the loader's lock

CuptiLibrary library_that_is_being_loaded() {
  CuptiLibrary library;
  library.functions.ProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    while (loading.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return CUPTI_ERROR_NOT_SUPPORTED;
  };
  return library;
}

}  // namespace

TEST_CASE("no launch waits for a configuration after an out-of-memory error") {
  const CuptiLibrary library = library_without_memory();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes", {});
  gpus.start_building(0, some_context());

  CHECK(test::retried_once("out-of-memory error", [&] {
    const auto begin = Clock::now();
    return gpus.wait_for(0) == nullptr && Clock::now() - begin < kShort;
  }));

  CHECK(loss.get(Loss::record_sink_errors) == 1);
}

TEST_CASE("no launch waits for a configuration that is not being built") {
  const CuptiLibrary library = library_that_refuses();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes", {});

  CHECK(test::retried_once("configuration that is not being built", [&] {
    const auto begin = Clock::now();
    return gpus.wait_for(0) == nullptr && gpus.wait_for(ExactGpus::kMaxGpus) == nullptr &&
           Clock::now() - begin < kShort;
  }));
}

TEST_CASE("a launch waits for a configuration in progress, even if that ends with an error") {
  const CuptiLibrary library = library_that_refuses();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes", {});
  gpus.start_building(0, some_context());

  const CounterConfig* const config = gpus.wait_for(0);

  REQUIRE(config != nullptr);
  CHECK_FALSE(config->error().empty());
  CHECK(gpus.wait_until_built(kShort));
}

TEST_CASE("after one timeout no launch waits, on any GPU, and a late configuration is still used") {
  const CuptiLibrary library = library_that_is_being_loaded();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes", {});
  loading = true;
  for (const std::uint32_t gpu : {0U, 1U}) gpus.start_building(gpu, some_context());
  const auto begin = Clock::now();
  CHECK(gpus.wait_for(0) == nullptr);
  const auto waited = Clock::now() - begin;
  for (int launch = 0; launch < 1000; ++launch) CHECK(gpus.wait_for(launch % 2) == nullptr);
  const auto in_all = Clock::now() - begin;
  loading = false;

  CHECK(waited >= ExactGpus::kConfigPatience);
  CHECK(in_all - waited < kShort);
  CHECK(gpus.wait_until_built(kShort));
  CHECK(gpus.wait_for(0) != nullptr);
}

TEST_CASE("a library without counter support is not called, and the error gives the reason") {
  CuptiLibrary library = library_without_memory();
  library.no_counters = "the program is built with AddressSanitizer";
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes", {});
  gpus.start_building(0, some_context());

  const CounterConfig* const config = gpus.wait_for(0);

  REQUIRE(config != nullptr);
  CHECK(config->error() == library.no_counters);
  // The building thread still notifies when the configuration can be seen: `gpus` must outlive that.
  CHECK(gpus.wait_until_built(kShort));
}
