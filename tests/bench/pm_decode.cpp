// SPDX-License-Identifier: Apache-2.0
//
// Cost of one hardware sample for the thread that reads it, and whether samples go missing.
//
// For each set of counters, size of the counter image, pause between two decodings and way of emptying the
// image: a second of PM sampling while another thread keeps the GPU busy. Prints host time per sample for
// decoding, reading its times, evaluating and emptying; decodings, and how many of them filled the image;
// samples that are missing by the clock.
//
//   pm_decode [INTERVAL_US] [SECONDS] [FILE]     [20 1]; needs a GPU and permission to read its counters
//
// FILE: receives a counter image of six metrics, for evaluation elsewhere.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "profiler/counters/cupti_params.h"
#include "profiler/counters/metrics/metric_config.h"
#include "profiler/cupti/loader.h"
#include "tests/bench/cupti_alone.h"
#include "tests/pm_image_metrics.h"
#include "workloads/probes/cuda_check.h"

namespace {

using rangefinder::CuptiFunctions;
using rangefinder::CuptiLibrary;
using rangefinder::MetricConfig;
using rangefinder::bench::check_cupti;
using rangefinder::probe::check;
using rangefinder::test::kPmImageMetrics;
using Clock = std::chrono::steady_clock;
using Metrics = std::vector<const char*>;

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

/// Loads libcupti and its counter library. Ends the program where there is no GPU or no libcupti.
void load_counters(CuptiLibrary& library) {
  rangefinder::probe::require_gpu();
  rangefinder::CuptiFailure failure;
  if (!load_cupti({}, library, failure)) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, failure.reason.c_str());
    std::exit(1);
  }
  preload_counter_library(library);
}

std::string chip_name(const CuptiFunctions& cupti) {
  auto init = RANGEFINDER_CUPTI_PARAMS(Profiler_Initialize);
  check_cupti(cupti.ProfilerInitialize(&init), "cuptiProfilerInitialize");
  auto chip = RANGEFINDER_CUPTI_PARAMS(Device_GetChipName);
  check_cupti(cupti.DeviceGetChipName(&chip), "cuptiDeviceGetChipName");
  return chip.pChipName;
}

enum class Emptying {
  initialize,  // cuptiPmSamplingCounterDataImageInitialize after each decoding
  copy,        // a copy of an empty image over it
  when_full,   // initialized only when less than half is left
  touched,     // a copy of an empty image over its head and the samples that were written
};
constexpr const char* kEmptyingNames[] = {"initialize", "copy", "when full", "touched"};

struct Case {
  int metrics;  // the first N of kPmImageMetrics
  std::uint32_t image;
  int period_ms;
  Emptying emptying;
  std::size_t hardware_mib;
};

constexpr Case kCases[] = {{6, 1024, 20, Emptying::initialize, 256}, {6, 1024, 5, Emptying::initialize, 256},
                           {6, 4096, 20, Emptying::initialize, 256}, {6, 4096, 20, Emptying::copy, 256},
                           {6, 4096, 20, Emptying::when_full, 256},  {6, 16384, 20, Emptying::when_full, 256},
                           {4, 4096, 20, Emptying::when_full, 256},  {3, 1024, 20, Emptying::initialize, 256},
                           {3, 4096, 20, Emptying::initialize, 256}, {3, 4096, 20, Emptying::copy, 256},
                           {3, 4096, 20, Emptying::when_full, 256},  {3, 4096, 20, Emptying::when_full, 64},
                           {3, 4096, 5, Emptying::when_full, 64},    {3, 4096, 100, Emptying::when_full, 256},
                           {6, 4096, 5, Emptying::copy, 256},        {6, 4096, 2, Emptying::touched, 256},
                           {6, 4096, 5, Emptying::touched, 256},     {6, 4096, 10, Emptying::touched, 256},
                           {6, 4096, 20, Emptying::touched, 256},    {6, 4096, 40, Emptying::touched, 256}};

struct Tally {
  std::size_t samples = 0, decodings = 0, filled = 0, overflows = 0, holes = 0, unvalued = 0;
  double decode_us = 0, info_us = 0, evaluate_us = 0, empty_us = 0;
  double missing = 0, longest_ms = 0;
  std::size_t beyond = 0, checked = 0;  // images written past their samples, of how many checked
  std::string first_holes;
};

class Sampling {
 public:
  Sampling(const CuptiLibrary& library, const std::string& chip, const Case& which, std::uint32_t interval_ns)
      : cupti_(library.functions), which_(which), config_(library.functions), interval_ns_(interval_ns) {
    auto available = call(cupti_.PmSamplingGetCounterAvailability,
                          RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterAvailability), "availability");
    std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    call(cupti_.PmSamplingGetCounterAvailability, available, "availability");
    metrics_.assign(kPmImageMetrics, kPmImageMetrics + which.metrics);
    check_cupti(config_.build(chip, availability, metrics_, CUPTI_PROFILER_TYPE_PM_SAMPLING), "config");
    values_.resize(metrics_.size());
    sampler_ = call(cupti_.PmSamplingEnable, RANGEFINDER_CUPTI_PARAMS(PmSampling_Enable), "enable")
                   .pPmSamplingObject;
    auto set = RANGEFINDER_CUPTI_PARAMS(PmSampling_SetConfig);
    set.configSize = config_.image().size();
    set.pConfig = config_.image().data();
    set.hardwareBufferSize = which.hardware_mib << 20;
    set.samplingInterval = interval_ns;
    set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    set.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    call(cupti_.PmSamplingSetConfig, set, "configuration");
    auto size = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataSize);
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    const auto bytes_of = [&](std::size_t samples) {
      size.maxSamples = static_cast<std::uint32_t>(samples);
      return call(cupti_.PmSamplingGetCounterDataSize, size, "size").counterDataSize;
    };
    sample_bytes_ = bytes_of(2) - bytes_of(1);
    head_bytes_ = bytes_of(1) - sample_bytes_;
    image_.assign(bytes_of(which.image), 0);
    initialize();
    empty_image_ = image_;
  }

  ~Sampling() {
    auto disable = RANGEFINDER_CUPTI_PARAMS(PmSampling_Disable);
    disable.pPmSamplingObject = sampler_;
    (void)cupti_.PmSamplingDisable(&disable);
  }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  Tally run(double seconds) {
    call(cupti_.PmSamplingStart, RANGEFINDER_CUPTI_PARAMS(PmSampling_Start), "start");
    const auto begin = Clock::now();
    while (us_since(begin) < seconds * 1e6) {
      std::this_thread::sleep_for(std::chrono::milliseconds(which_.period_ms));
      bool more = true;
      for (int round = 0; more && round < 16; ++round) more = decode();
    }
    call(cupti_.PmSamplingStop, RANGEFINDER_CUPTI_PARAMS(PmSampling_Stop), "stop");
    return tally_;
  }

  std::size_t bytes_a_sample() const { return image_.size() / which_.image; }
  /// Writes the image to `path` before it is emptied for the first time.
  void keep_image(const char* path) { kept_image_ = path; }

 private:
  /// `params` of this sampler, and of its image.
  template <typename Params>
  Params own(Params params) {
    if constexpr (requires { params.pPmSamplingObject; }) params.pPmSamplingObject = sampler_;
    if constexpr (requires { params.pCounterDataImage; }) {
      params.pCounterDataImage = image_.data();
      params.counterDataImageSize = image_.size();
    }
    return params;
  }

  /// Returns what `function` wrote.
  template <typename Params>
  Params call(CUptiResult (*function)(Params*), Params params, const char* what) {
    params = own(params);
    check_cupti(function(&params), what);
    return params;
  }

  void initialize() {
    auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_CounterDataImage_Initialize);
    params.counterDataSize = image_.size();
    params.pCounterData = image_.data();
    call(cupti_.PmSamplingCounterDataImageInitialize, params, "image");
    done_ = 0;
  }

  bool decode() {
    const auto begin = Clock::now();
    auto params = own(RANGEFINDER_CUPTI_PARAMS(PmSampling_DecodeData));
    const CUptiResult r = cupti_.PmSamplingDecodeData(&params);
    tally_.decode_us += us_since(begin);
    ++tally_.decodings;
    if (r != CUPTI_SUCCESS || params.overflow != 0) ++tally_.overflows;
    const bool full = params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    tally_.filled += full ? 1 : 0;
    const auto info = call(cupti_.PmSamplingGetCounterDataInfo,
                           RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataInfo), "info");
    for (; done_ < info.numCompletedSamples; ++done_) take(done_);
    if (kept_image_ != nullptr && done_ > 0) {
      std::ofstream file(kept_image_, std::ios::binary);
      file.write(reinterpret_cast<const char*>(image_.data()), static_cast<std::streamsize>(image_.size()));
      kept_image_ = nullptr;
    }
    const auto emptying = Clock::now();
    if (which_.emptying == Emptying::initialize) initialize();
    if (which_.emptying == Emptying::copy) {
      std::memcpy(image_.data(), empty_image_.data(), image_.size());
      done_ = 0;
    }
    if (which_.emptying == Emptying::touched) {
      const std::size_t used =
          std::min(head_bytes_ + info.numPopulatedSamples * sample_bytes_, image_.size());
      std::memcpy(image_.data(), empty_image_.data(), used);
      done_ = 0;
      if (tally_.checked < 40) {  // too expensive for all of them
        ++tally_.checked;
        if (image_ != empty_image_) ++tally_.beyond;
      }
    }
    if (which_.emptying == Emptying::when_full && (full || done_ > which_.image / 2)) initialize();
    tally_.empty_us += us_since(emptying);
    return full;
  }

  void take(std::size_t index) {
    const auto begin = Clock::now();
    auto at = RANGEFINDER_CUPTI_PARAMS(PmSampling_CounterData_GetSampleInfo);
    at.sampleIndex = index;
    at = call(cupti_.PmSamplingCounterDataGetSampleInfo, at, "sample");
    const auto evaluating = Clock::now();
    tally_.info_us += std::chrono::duration<double, std::micro>(evaluating - begin).count();
    if (config_.evaluate(image_, index, values_) != CUPTI_SUCCESS) ++tally_.unvalued;
    tally_.evaluate_us += us_since(evaluating);
    const auto start_ns = static_cast<std::int64_t>(at.startTimestamp);
    if (last_ns_ != 0 && start_ns - last_ns_ > interval_ns_ / 2) {
      const double gap_ns = static_cast<double>(start_ns - last_ns_);
      if (tally_.holes++ < 4) {
        char text[96];
        std::snprintf(text, sizeof text, " [decoding %zu, sample %zu: %.1f ms]", tally_.decodings, index,
                      gap_ns / 1e6);
        tally_.first_holes += text;
      }
      tally_.missing += gap_ns / static_cast<double>(interval_ns_);
      tally_.longest_ms = std::max(tally_.longest_ms, gap_ns / 1e6);
    }
    last_ns_ = static_cast<std::int64_t>(at.endTimestamp);
    ++tally_.samples;
  }

  const CuptiFunctions& cupti_;
  const Case which_;
  MetricConfig config_;
  const std::int64_t interval_ns_;
  Metrics metrics_;
  std::vector<double> values_;
  std::vector<std::uint8_t> image_, empty_image_;
  CUpti_PmSampling_Object* sampler_ = nullptr;
  std::size_t head_bytes_ = 0, sample_bytes_ = 0;
  const char* kept_image_ = nullptr;
  std::size_t done_ = 0;
  std::int64_t last_ns_ = 0;
  Tally tally_;
};

void print(const Case& which, std::size_t bytes, const Tally& t) {
  const double n = static_cast<double>(std::max<std::size_t>(t.samples, 1));
  std::printf(
      "%7d %6u %6d %-10s %4zu %6zu | %8zu %6.1f %5.1f %5.1f %6.1f %6.1f | %5zu %5zu %3zu | %5zu %6.1f%% "
      "%6.1f | %zu of %zu%s\n",
      which.metrics, which.image, which.period_ms, kEmptyingNames[static_cast<int>(which.emptying)],
      which.hardware_mib, bytes, t.samples, t.decode_us / n, t.info_us / n, t.evaluate_us / n, t.empty_us / n,
      (t.decode_us + t.info_us + t.evaluate_us + t.empty_us) / n, t.decodings, t.filled, t.overflows, t.holes,
      100 * t.missing / (t.missing + n), t.longest_ms, t.beyond, t.checked, t.first_holes.c_str());
  std::fflush(stdout);
}

/// Copies of 64 MiB, one after the other, until told to stop.
void keep_busy(const std::atomic<bool>& busy) {
  void *from = nullptr, *to = nullptr;
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  check(cudaMalloc(&from, kBytes), "cudaMalloc");
  check(cudaMalloc(&to, kBytes), "cudaMalloc");
  while (busy.load()) {
    for (int i = 0; i < 20; ++i)
      check(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double interval_us = argc > 1 ? std::atof(argv[1]) : 20, seconds = argc > 2 ? std::atof(argv[2]) : 1;
  CuptiLibrary library;
  load_counters(library);
  const std::string chip = chip_name(library.functions);
  std::atomic<bool> busy{true};
  std::thread load(keep_busy, std::cref(busy));
  std::printf(
      "# %s, every %.0f us; times in us a sample\nmetrics  image period emptying    MiB B/smpl |  samples "
      "decode  info  eval  empty"
      "    sum | decod  full ovf | holes missing longest | written past the samples\n",
      chip.c_str(), interval_us);
  for (const Case& which : kCases) {
    Sampling sampling(library, chip, which, static_cast<std::uint32_t>(interval_us * 1e3));
    if (argc > 3 && &which == kCases) sampling.keep_image(argv[3]);
    print(which, sampling.bytes_a_sample(), sampling.run(seconds));
  }
  busy.store(false);
  load.join();
  return 0;
}
