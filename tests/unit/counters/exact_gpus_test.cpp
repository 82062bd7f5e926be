// SPDX-License-Identifier: Apache-2.0
//
// Launches wait for a configuration as long as one may come.
#include "profiler/counters/exact_gpus.h"

#include <chrono>
#include <new>
#include <thread>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kShort{1};  // half of what a launch waits for a configuration

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

}  // namespace

TEST_CASE("no launch waits for a configuration that there is no memory for") {
  const CuptiLibrary library = library_without_memory();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes");
  gpus.start_building(0, some_context());
  const auto begin = Clock::now();

  CHECK(gpus.wait_for(0) == nullptr);

  CHECK(Clock::now() - begin < kShort);
  CHECK(loss.get(Loss::record_sink_errors) == 1);
}

TEST_CASE("nor for one that nobody builds") {
  const CuptiLibrary library = library_that_refuses();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes");
  const auto begin = Clock::now();

  CHECK(gpus.wait_for(0) == nullptr);
  CHECK(gpus.wait_for(ExactGpus::kMaxGpus) == nullptr);

  CHECK(Clock::now() - begin < kShort);
}

TEST_CASE("it waits for one that is being built, also if that says why there are no counters") {
  const CuptiLibrary library = library_that_refuses();
  LossLedger loss;
  ExactGpus gpus(library, loss, "bytes");
  gpus.start_building(0, some_context());

  const CounterConfig* const config = gpus.wait_for(0);

  REQUIRE(config != nullptr);
  CHECK_FALSE(config->error().empty());
  CHECK(gpus.wait_until_built(kShort));
}
