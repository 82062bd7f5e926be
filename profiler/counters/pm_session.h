// SPDX-License-Identifier: Apache-2.0
//
// The sampled counters of one GPU: CUPTI's PM sampling from enable to disable.
//
//   prepare() ─▶ open() ─▶ { decode() } at least every hardware buffer's time ─▶ close()
//
// Call order as CUPTI documents it. The configuration and the counter image live until
// disable, because CUPTI keeps pointers to them. A buffer that ran over gives nothing
// back and cannot be started again: the caller closes, and opens with a longer interval.
// Not thread-safe: one thread owns a session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "profiler/counters/pm_encoder.h"
#include "profiler/counters/pm_metrics.h"
#include "profiler/cupti/loader.h"

namespace rangefinder {

class PmSession {
 public:
  /// Samples that the counter image holds: what one call decodes at most.
  static constexpr std::uint32_t kImageSamples = 1024;
  /// The hardware's own buffer: a second of records where the most allows it. An H200 writes 5.5 KB
  /// a sample, and twice that with counters of every multiprocessor (docs/measured.md).
  static constexpr std::size_t kRecordBytes = 5632;
  static constexpr std::size_t kLeastHardwareBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMostHardwareBytes = std::size_t{256} << 20;

  /// Images that are decoded in a row at most: a program that ends does not wait for more.
  static constexpr int kMostRounds = 16;

  enum class Decoded : std::uint8_t {
    all,       ///< nothing is left at the moment
    part,      ///< more is there: call again
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
  /// Hands the samples that are complete to `take`, in the order of time.
  [[nodiscard]] Decoded decode(const std::function<void(const PmSample&)>& take);
  /// Ends sampling, hands over the last samples, and gives the counters free. False: samples are lost.
  bool close(const std::function<void(const PmSample&)>& take);

  /// Samples that CUPTI gave no values for, since the last call.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return std::exchange(lost_, 0); }
  [[nodiscard]] bool is_open() const noexcept { return sampler_ != nullptr; }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Those that are collected; empty before the first open().
  [[nodiscard]] PmEncoder::Columns columns() const noexcept { return metrics_.collected; }

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool read_device(std::uint32_t interval_ns);
  [[nodiscard]] bool enable();
  [[nodiscard]] bool set_config(std::uint32_t interval_ns);
  [[nodiscard]] bool make_image();
  [[nodiscard]] bool reset_image();
  [[nodiscard]] std::size_t hardware_bytes(std::uint32_t interval_ns) const noexcept;
  [[nodiscard]] bool start();
  [[nodiscard]] CUptiResult configure(CUpti_PmSampling_TriggerMode trigger, std::uint64_t interval,
                                      std::size_t hardware_bytes);
  [[nodiscard]] bool evaluate(const std::function<void(const PmSample&)>& take);
  void disable() noexcept;

  const CuptiLibrary& library_;
  const CuptiFunctions& cupti_;
  const std::uint32_t gpu_;
  std::string error_;
  std::string chip_;
  PmMetrics metrics_;
  CUpti_PmSampling_Object* sampler_ = nullptr;
  bool started_ = false;
  bool discard_ = false;  // the next sample is the session's first, which began before it
  std::uint64_t lost_ = 0;
  std::vector<std::uint8_t> image_;
  std::vector<double> values_;
};

}  // namespace rangefinder
