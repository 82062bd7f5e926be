// SPDX-License-Identifier: Apache-2.0
//
// The sampled counters of one GPU: CUPTI's PM sampling from enable to disable.
//
//   prepare() ─▶ open() ─▶ { decode(image) } at least every hardware buffer's time ─▶ stop() ─▶ decode(image)
//                                  └─▶ evaluate(image), which empties it                        ─▶ close()
//
// Call order as CUPTI documents it. The configuration and the images live until disable, because
// CUPTI keeps pointers to them. A buffer that ran over gives nothing back and cannot be started
// again: the caller closes, and opens with a longer interval. One thread owns a session; another may
// evaluate an image meanwhile, which none decodes into.
//
// An interval is that of its open(): after stop, set-config and start CUPTI goes on with the first one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/counters/sampling/pm_encoder.h"
#include "profiler/counters/sampling/pm_image.h"
#include "profiler/counters/sampling/pm_metrics.h"
#include "profiler/counters/sampling/pm_values.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {

class PmSession {
 public:
  /// Samples that an image holds. What a decoding finds beyond that CUPTI drops without a word
  /// (docs/decisions.md), so an image must hold all that comes while our threads wait for their turn:
  /// at 20 us, half of it is 41 ms.
  static constexpr std::uint32_t kImageSamples = 4096;
  /// The hardware's own buffer: a second of records where the most allows it. An H200 writes 5.5 KB
  /// a sample, and twice that with counters of every multiprocessor (docs/measured.md).
  static constexpr std::size_t kRecordBytes = 5632;
  static constexpr std::size_t kMinHardwareBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxHardwareBytes = std::size_t{256} << 20;

  enum class Decoded : std::uint8_t {
    all,       ///< nothing is left at the moment
    part,      ///< the image is full: what it did not hold is lost, and more may be there
    overflow,  ///< the hardware's buffer ran over: samples are lost, none will come any more
    failed,    ///< error()
  };

  PmSession(const CuptiLibrary& library, std::uint32_t gpu);
  ~PmSession();
  PmSession(const PmSession&) = delete;
  PmSession& operator=(const PmSession&) = delete;

  /// Loads what CUPTI needs and chooses the counters. Holds none yet. False: error().
  [[nodiscard]] bool prepare(std::uint32_t interval_ns);
  /// After prepare(). Begins to sample. False: error(), and nothing is held.
  [[nodiscard]] bool open(std::uint32_t interval_ns);
  /// Empty ones for this session, from open() to close(). `which`: 0 or 1.
  [[nodiscard]] PmImage& image(std::size_t which) noexcept { return images_[which]; }
  /// Puts the samples that are complete behind those in `image`.
  [[nodiscard]] Decoded decode(PmImage& image);
  /// Hands the image's samples to `take`, in the order of time, and empties it.
  void evaluate(PmImage& image, const std::function<void(const PmSample&)>& take);
  /// Ends sampling; the last samples can be decoded still. False: there are none.
  [[nodiscard]] bool stop() noexcept;
  /// Gives the counters free. No image may be in use.
  void close() noexcept;

  /// Samples that CUPTI gave no values for, since the last call.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return lost_.exchange(0); }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Those that are collected; empty before the first open().
  [[nodiscard]] PmEncoder::Columns columns() const noexcept { return metrics_.collected; }

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool read_device(std::uint32_t interval_ns);
  [[nodiscard]] bool enable();
  [[nodiscard]] bool set_config(std::uint32_t interval_ns);
  [[nodiscard]] bool make_images();
  [[nodiscard]] std::size_t hardware_bytes(std::uint32_t interval_ns) const noexcept;
  [[nodiscard]] bool start();
  [[nodiscard]] CUptiResult configure(CUpti_PmSampling_TriggerMode trigger, std::uint64_t interval,
                                      std::size_t hardware_bytes);
  [[nodiscard]] std::size_t completed(PmImage& image) const;
  [[nodiscard]] PmImage::Time time_of(const PmImage& image, std::size_t index);

  const CuptiLibrary& library_;
  const CuptiFunctions& cupti_;
  const std::uint32_t gpu_;
  std::string error_;
  std::string chip_;
  PmMetrics metrics_;
  std::optional<PmValues> evaluation_;  // of metrics_
  CUpti_PmSampling_Object* sampler_ = nullptr;
  bool started_ = false;
  bool discard_ = false;  // the next sample is the session's first, which began before it
  std::atomic<std::uint64_t> lost_{0};
  std::array<PmImage, 2> images_;
  EmptyPmImage empty_image_;
  std::vector<double> values_;  // of the evaluation
};

}  // namespace rangefinder
