// SPDX-License-Identifier: Apache-2.0
//
// A session of CUPTI's PM sampling for one GPU, from enable to disable.
//
//   [load() ─▶] prepare() ─▶ open() ─▶ { decode(image) } before the hardware buffer is full ─▶ stop() ─▶
//   decode(image)
//                                  └─▶ evaluate(image), which empties it                     ─▶ close()
//
// Each step takes up to 0.2 s (docs/internals/measured.md). prepare() and open() fail after the step in which
// `wanted` becomes false, so that an exiting program waits for one step only.
//
// The call order is CUPTI's. The configuration and the images live until disable, because CUPTI keeps
// pointers to them. A buffer that has overflowed yields nothing and cannot be restarted: the caller
// closes, and opens with a longer interval. One thread owns a session. Another may evaluate an image
// that is not being decoded into.
//
// The interval is fixed by open(): after stop, set-config and start CUPTI keeps using the first one.
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
  /// Samples per image. CUPTI silently drops samples that do not fit (docs/internals/decisions.md). So an
  /// image must hold all samples that arrive while our threads wait for a CPU: at 20 us, half of it is 41 ms.
  static constexpr std::uint32_t kImageSamples = 4096;
  /// Of an image for samples that waited while another GPU was set up, and those that come while they are
  /// decoded: 0.65 s at 20 us, 266 MB on an H200. More are dropped and counted.
  static constexpr std::uint32_t kLateSamples = 8 * kImageSamples;
  /// The hardware buffer holds one second of records, within these limits. An H200 writes 5.5 KB per sample,
  /// and twice that with counters of every multiprocessor.
  static constexpr std::size_t kRecordBytes = 5632;
  static constexpr std::size_t kMinHardwareBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxHardwareBytes = std::size_t{256} << 20;

  enum class Decoded : std::uint8_t {
    all,       ///< nothing is left for now
    part,      ///< the image is full: samples that did not fit are lost, and more may be waiting
    overflow,  ///< the hardware buffer overflowed: samples are lost, and no more will come
    failed,    ///< see error()
  };

  /// `wanted()`: whether starting should go on. Called between its steps.
  PmSession(const CuptiLibrary& library, std::uint32_t gpu, std::function<bool()> wanted);
  ~PmSession();
  PmSession(const PmSession&) = delete;
  PmSession& operator=(const PmSession&) = delete;

  /// Loads CUPTI's counter library and makes it register its exit handlers now. Exit handlers of ours that
  /// are registered later run before them. A program that exits while another thread is in here crashes
  /// (docs/internals/decisions.md). Reserves no counters.
  void load(std::uint32_t interval_ns);
  /// Chooses the counters; loads the library if needed. Does not reserve them yet. False: see error().
  [[nodiscard]] bool prepare(std::uint32_t interval_ns);
  /// After prepare(). Starts sampling. False: see error(); nothing is held.
  [[nodiscard]] bool open(std::uint32_t interval_ns);
  /// This session's images, empty after open(), valid until close(). `which`: 0 or 1.
  [[nodiscard]] PmImage& image(std::size_t which) noexcept { return images_[which]; }
  /// About as many samples wait for decode(), by the time since it was last called. While CUPTI configures
  /// another GPU, 0.2 s, it lets no thread decode: returns after that.
  [[nodiscard]] std::size_t waiting();
  /// One of two further images, empty, for so many samples, kLateSamples at most. Valid until
  /// drop_late_images() or close(). nullptr: see error().
  [[nodiscard]] PmImage* late_image(std::size_t which, std::size_t samples);
  void drop_late_images() noexcept { late_ = {}; }
  /// Appends the completed samples to `image`.
  [[nodiscard]] Decoded decode(PmImage& image);
  /// Passes the image's samples to `take` in time order, and empties it if it is image(0) or image(1).
  void evaluate(PmImage& image, const std::function<void(const PmSample&)>& take);
  /// Ends sampling. The last samples can still be decoded. False: there are none.
  [[nodiscard]] bool stop() noexcept;
  /// Releases the counters. No image may be in use.
  void close() noexcept;

  /// Samples without values from CUPTI since the last call.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return lost_.exchange(0); }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// The collected columns; empty before the first prepare().
  [[nodiscard]] PmEncoder::Columns columns() const noexcept { return metrics_.collected; }

 private:
  [[nodiscard]] bool fail(const char* step, CUptiResult result);
  [[nodiscard]] bool is_wanted();
  [[nodiscard]] bool initialize();
  [[nodiscard]] bool read_device(std::uint32_t interval_ns);
  [[nodiscard]] bool enable();
  [[nodiscard]] bool set_config(std::uint32_t interval_ns);
  [[nodiscard]] bool make_images();
  [[nodiscard]] std::optional<std::size_t> image_bytes(std::size_t samples);
  [[nodiscard]] bool initialize_image(std::vector<std::uint8_t>& data);
  [[nodiscard]] std::size_t hardware_bytes(std::uint32_t interval_ns) const noexcept;
  [[nodiscard]] bool start();
  [[nodiscard]] CUptiResult configure(CUpti_PmSampling_TriggerMode trigger, std::uint64_t interval,
                                      std::size_t hardware_bytes);
  [[nodiscard]] std::size_t completed(PmImage& image) const;
  [[nodiscard]] PmImage::Time time_of(const PmImage& image, std::size_t index);

  const CuptiLibrary& library_;
  const CuptiFunctions& cupti_;
  const std::uint32_t gpu_;
  const std::function<bool()> wanted_;
  std::string error_;
  std::string chip_;
  PmMetrics metrics_;
  std::optional<PmValues> evaluation_;  // of metrics_
  CUpti_PmSampling_Object* sampler_ = nullptr;
  bool started_ = false;
  bool discard_ = false;  // the next sample is the first one, which began before the session
  std::uint32_t interval_ns_ = 0;
  std::int64_t decoded_ns_ = 0;  // begin of the last decode()
  std::atomic<std::uint64_t> lost_{0};
  std::array<PmImage, 2> images_;
  std::array<PmImage, 2> late_;  // without data if not needed
  std::size_t late_bytes_ = 0;   // for kLateSamples
  EmptyPmImage empty_image_;
  std::vector<double> values_;  // scratch of evaluate()
};

}  // namespace rangefinder
