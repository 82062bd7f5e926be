// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include "profiler/base/monotonic_clock.h"
#include "profiler/counters/counter_errors.h"
#include "profiler/counters/cupti_params.h"
#include "profiler/counters/metrics/prepared_metrics.h"
#include "profiler/guest/log.h"

namespace rangefinder {
namespace {

/// GPUs are set up one at a time: CUPTI does not document this as thread-safe.
std::mutex set_up_mutex;
/// While CUPTI configures a GPU, it lets no thread decode.
std::atomic<bool> configuring{false};

/// Approximate system clock of chips whose interval is in cycles, not nanoseconds.
constexpr double kSystemClockGhz = 1.5;

std::string ms_since(std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - begin;
  return std::to_string(std::lround(passed.count())) + " ms";
}

}  // namespace

PmSession::PmSession(const CuptiLibrary& library, std::uint32_t gpu, std::function<bool()> wanted)
    : library_(library), cupti_(library.functions), gpu_(gpu), wanted_(std::move(wanted)) {}

PmSession::~PmSession() {
  close();
}

bool PmSession::fail(const char* step, CUptiResult result) {
  error_ = counter_error_text(cupti_, step, result);
  return false;
}

bool PmSession::is_wanted() {
  if (wanted_()) return true;
  error_ = "the program ended while sampling started";
  return false;
}

void PmSession::load(std::uint32_t interval_ns) {
  const std::lock_guard lock(set_up_mutex);
  // The choice without the device's availability takes 30 ms instead of 0.2 s. It is a rehearsal: it may
  // differ from that of prepare().
  if (initialize()) (void)choose_pm_metrics(cupti_, chip_, {}, interval_ns);
}

bool PmSession::prepare(std::uint32_t interval_ns) {
  const std::lock_guard lock(set_up_mutex);
  const auto begin = std::chrono::steady_clock::now();
  if (metrics_.config == nullptr && !read_device(interval_ns)) return false;
  log_info("GPU " + std::to_string(gpu_) + ": counters chosen in " + ms_since(begin));
  return true;
}

bool PmSession::open(std::uint32_t interval_ns) {
  const std::lock_guard lock(set_up_mutex);
  const auto begin = std::chrono::steady_clock::now();
  const bool started = is_wanted() && enable() && set_config(interval_ns) && is_wanted() && make_images() &&
                       is_wanted() && start();
  if (!started) {
    close();
    return false;
  }
  log_info("GPU " + std::to_string(gpu_) + ": sampling every " + std::to_string(interval_ns) +
           " ns, started in " + ms_since(begin));
  return true;
}

bool PmSession::initialize() {
  if (!library_.no_counters.empty()) {
    error_ = library_.no_counters;
    return false;
  }
  preload_counter_library(library_);
  auto init = RANGEFINDER_CUPTI_PARAMS(Profiler_Initialize);
  if (const CUptiResult r = cupti_.ProfilerInitialize(&init); r != CUPTI_SUCCESS)
    return fail("cuptiProfilerInitialize", r);

  auto chip = RANGEFINDER_CUPTI_PARAMS(Device_GetChipName);
  chip.deviceIndex = gpu_;
  if (const CUptiResult r = cupti_.DeviceGetChipName(&chip); r != CUPTI_SUCCESS)
    return fail("cuptiDeviceGetChipName", r);
  chip_ = chip.pChipName;
  return true;
}

bool PmSession::read_device(std::uint32_t interval_ns) {
  if (!initialize() || !is_wanted()) return false;
  auto available = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterAvailability);
  available.deviceIndex = gpu_;
  if (const CUptiResult r = cupti_.PmSamplingGetCounterAvailability(&available); r != CUPTI_SUCCESS)
    return fail("cuptiPmSamplingGetCounterAvailability", r);
  std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability.data();
  if (const CUptiResult r = cupti_.PmSamplingGetCounterAvailability(&available); r != CUPTI_SUCCESS)
    return fail("cuptiPmSamplingGetCounterAvailability", r);

  if (!is_wanted()) return false;
  metrics_ = choose_pm_metrics(cupti_, chip_, availability, interval_ns);
  if (metrics_.config == nullptr) return fail("choosing counters", metrics_.error);
  values_.resize(metrics_.names.size());
  PmValues::FastPath fast;
  // Shared, because a std::function must be copyable and PreparedMetrics is not.
  std::shared_ptr<PreparedMetrics> prepared;
  if (PreparedMetrics::is_verified_with(library_.version))
    prepared = PreparedMetrics::make(chip_, metrics_.names);
  if (prepared != nullptr) {
    fast = [prepared](auto image, std::size_t sample, std::span<double> values) {
      return prepared->evaluate(image, sample, values);
    };
  }
  evaluation_.emplace(*metrics_.config, std::move(fast));
  return true;
}

bool PmSession::enable() {
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_Enable);
  params.deviceIndex = gpu_;
  if (const CUptiResult r = cupti_.PmSamplingEnable(&params); r != CUPTI_SUCCESS)
    return fail("cuptiPmSamplingEnable", r);
  sampler_ = params.pPmSamplingObject;
  return true;
}

std::size_t PmSession::hardware_bytes(std::uint32_t interval_ns) const noexcept {
  const std::size_t record = metrics_.collected[kSampleSmActive] ? 2 * kRecordBytes : kRecordBytes;
  return std::clamp(1'000'000'000 / interval_ns * record, kMinHardwareBytes, kMaxHardwareBytes);
}

CUptiResult PmSession::configure(CUpti_PmSampling_TriggerMode trigger, std::uint64_t interval,
                                 std::size_t hardware_bytes) {
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_SetConfig);
  params.pPmSamplingObject = sampler_;
  params.configSize = metrics_.config->image().size();
  params.pConfig = metrics_.config->image().data();
  params.hardwareBufferSize = hardware_bytes;
  params.samplingInterval = interval;
  params.triggerMode = trigger;
  params.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  return cupti_.PmSamplingSetConfig(&params);
}

bool PmSession::set_config(std::uint32_t interval_ns) {
  const std::size_t bytes = hardware_bytes(interval_ns);
  interval_ns_ = interval_ns;
  configuring.store(true);
  CUptiResult r = configure(CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL, interval_ns, bytes);
  if (r == CUPTI_ERROR_NOT_SUPPORTED || r == CUPTI_ERROR_INVALID_PARAMETER) {
    const auto cycles = static_cast<std::uint64_t>(interval_ns * kSystemClockGhz);
    r = configure(CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL, cycles, bytes);
  }
  configuring.store(false);
  configuring.notify_all();
  return r == CUPTI_SUCCESS || fail("cuptiPmSamplingSetConfig", r);
}

std::optional<std::size_t> PmSession::image_bytes(std::size_t samples) {
  auto size = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataSize);
  size.pPmSamplingObject = sampler_;
  size.pMetricNames = metrics_.names.data();
  size.numMetrics = metrics_.names.size();
  size.maxSamples = static_cast<std::uint32_t>(samples);
  if (const CUptiResult r = cupti_.PmSamplingGetCounterDataSize(&size); r != CUPTI_SUCCESS) {
    (void)fail("cuptiPmSamplingGetCounterDataSize", r);
    return {};
  }
  return size.counterDataSize;
}

bool PmSession::initialize_image(std::vector<std::uint8_t>& data) {
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_CounterDataImage_Initialize);
  params.pPmSamplingObject = sampler_;
  params.counterDataSize = data.size();
  params.pCounterData = data.data();
  const CUptiResult r = cupti_.PmSamplingCounterDataImageInitialize(&params);
  return r == CUPTI_SUCCESS || fail("cuptiPmSamplingCounterDataImageInitialize", r);
}

bool PmSession::make_images() {
  // The real size comes last: CUPTI may remember the last request.
  std::array<std::size_t, 4> bytes{};
  constexpr std::array<std::uint32_t, 4> kSamples{1, 2, kLateSamples, kImageSamples};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::optional<std::size_t> known = image_bytes(kSamples[i]);
    if (!known) return false;
    bytes[i] = *known;
  }
  late_bytes_ = bytes[2];
  std::vector<std::uint8_t> empty = image_memory(bytes[3]);
  if (!initialize_image(empty)) return false;
  empty_image_ = EmptyPmImage(std::move(empty), bytes[0], bytes[1]);
  for (PmImage& image : images_) {
    image.data = image_memory(empty_image_.data().size());
    std::copy(empty_image_.data().begin(), empty_image_.data().end(), image.data.begin());
    image.times.clear();
    image.times.reserve(kImageSamples);
    image.populated = 0;
  }
  return true;
}

PmImage* PmSession::late_image(std::size_t which, std::size_t samples) {
  PmImage& image = late_[which];
  const bool large = image.data.size() == late_bytes_;
  const auto wanted = large ? kLateSamples : std::clamp<std::size_t>(samples, kImageSamples, kLateSamples);
  const std::optional<std::size_t> bytes = image_bytes(wanted);
  if (bytes && image.data.size() != *bytes) image.data = image_memory(*bytes);
  image.times.clear();
  const bool made = bytes && initialize_image(image.data);
  (void)image_bytes(kImageSamples);  // for the other images, as in make_images()
  return made ? &image : nullptr;
}

bool PmSession::start() {
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_Start);
  params.pPmSamplingObject = sampler_;
  if (const CUptiResult r = cupti_.PmSamplingStart(&params); r != CUPTI_SUCCESS)
    return fail("cuptiPmSamplingStart", r);
  started_ = discard_ = true;
  decoded_ns_ = monotonic_now_ns();
  return true;
}

std::size_t PmSession::waiting() {
  // There is time to prepare for what comes after.
  if (configuring.load() && late_[0].data.empty()) late_[0].data = image_memory(late_bytes_);
  configuring.wait(true);
  return static_cast<std::size_t>(monotonic_now_ns() - decoded_ns_) / interval_ns_;
}

PmSession::Decoded PmSession::decode(PmImage& image) {
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_DecodeData);
  params.pPmSamplingObject = sampler_;
  params.pCounterDataImage = image.data.data();
  params.counterDataImageSize = image.data.size();
  decoded_ns_ = monotonic_now_ns();
  const CUptiResult r = cupti_.PmSamplingDecodeData(&params);
  if (r == CUPTI_SUCCESS || r == CUPTI_ERROR_OUT_OF_MEMORY) {
    const std::size_t count = completed(image);
    while (image.times.size() < count) {
      const bool first = std::exchange(discard_, false);
      image.times.push_back(first ? PmImage::Time{0, 0, false} : time_of(image, image.times.size()));
    }
  }
  if (r == CUPTI_ERROR_OUT_OF_MEMORY || params.overflow != 0) return Decoded::overflow;
  if (r != CUPTI_SUCCESS) {
    (void)fail("cuptiPmSamplingDecodeData", r);
    return Decoded::failed;
  }
  return params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL ? Decoded::part
                                                                                           : Decoded::all;
}

std::size_t PmSession::completed(PmImage& image) const {
  auto info = RANGEFINDER_CUPTI_PARAMS(PmSampling_GetCounterDataInfo);
  info.pCounterDataImage = image.data.data();
  info.counterDataImageSize = image.data.size();
  const bool known = cupti_.PmSamplingGetCounterDataInfo(&info) == CUPTI_SUCCESS;
  // If unknown, any part of the image may have been written.
  image.populated = known ? info.numPopulatedSamples : kImageSamples;
  return known ? info.numCompletedSamples : 0;
}

PmImage::Time PmSession::time_of(const PmImage& image, std::size_t index) {
  auto at = RANGEFINDER_CUPTI_PARAMS(PmSampling_CounterData_GetSampleInfo);
  at.pPmSamplingObject = sampler_;
  at.pCounterDataImage = image.data.data();
  at.counterDataImageSize = image.data.size();
  at.sampleIndex = index;
  const bool timed = cupti_.PmSamplingCounterDataGetSampleInfo(&at) == CUPTI_SUCCESS;
  if (!timed) lost_.fetch_add(1, std::memory_order_relaxed);
  return {static_cast<std::int64_t>(at.startTimestamp), static_cast<std::int64_t>(at.endTimestamp), timed};
}

void PmSession::evaluate(PmImage& image, const std::function<void(const PmSample&)>& take) {
  for (std::size_t i = 0; i < image.times.size(); ++i) {
    if (!image.times[i].wanted) continue;
    const CUptiResult r = evaluation_->evaluate(image.data, i, values_);
    if (r != CUPTI_SUCCESS && r != CUPTI_ERROR_INVALID_METRIC_VALUE) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    PmSample sample;
    sample.start_ns = image.times[i].start_ns;
    sample.end_ns = image.times[i].end_ns;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      // A share of cycles is NaN if the clock was stopped.
      if (std::isfinite(values_[k])) sample.values[metrics_.columns[k]] = values_[k];
    }
    take(sample);
  }
  const bool is_own = &image == &images_[0] || &image == &images_[1];
  if (is_own) empty_image_.copy_to(image);
}

bool PmSession::stop() noexcept {
  if (!std::exchange(started_, false)) return false;
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_Stop);
  params.pPmSamplingObject = sampler_;
  return cupti_.PmSamplingStop(&params) == CUPTI_SUCCESS;
}

void PmSession::close() noexcept {
  if (sampler_ == nullptr) return;
  (void)stop();
  auto params = RANGEFINDER_CUPTI_PARAMS(PmSampling_Disable);
  params.pPmSamplingObject = sampler_;
  (void)cupti_.PmSamplingDisable(&params);
  sampler_ = nullptr;
  drop_late_images();
}

}  // namespace rangefinder
