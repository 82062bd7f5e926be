// SPDX-License-Identifier: Apache-2.0
//
// A TraceBuilder over a temporary folder, its input events, and the trace that it writes.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "profiler/drain/trace_builder.h"
#include "profiler/launch/driver_apis.h"
#include "tests/unit/output/written_trace.h"

namespace rangefinder::test {

inline constexpr std::int64_t kBase = 1'700'000'000'000'000'000;
inline constexpr std::uint32_t kThread = 4712;

inline std::uint16_t api_index(std::string_view name) {
  const auto apis = driver_apis();
  for (std::size_t i = 0; i < apis.size(); ++i) {
    if (apis[i].name == name) return static_cast<std::uint16_t>(i);
  }
  FAIL("no entry for " << name);
  return 0;
}

/// An event of the driver call `api`, 10 us after the base.
inline Event call(EventKind kind, std::string_view api, std::uint32_t path = 0, std::uint64_t range = 0) {
  Event event;
  event.kind = kind;
  event.api = api_index(api);
  event.path = path;
  event.range = range;
  event.start_ns = kBase + 10'000;
  event.end_ns = kBase + 12'000;
  event.launch.context = 1;  // in the place of any call's context
  return event;
}

inline Event launch_event(std::uint32_t correlation, std::string_view api, std::uint32_t path = 0,
                          std::uint64_t bytes = 0) {
  Event event = call(EventKind::launch, api, path, path * 100);
  event.correlation = correlation;
  event.launch.bytes = bytes;
  return event;
}

inline GpuWork gpu_work(std::uint32_t correlation) {
  GpuWork work;
  work.start_ns = kBase + 20'000;
  work.end_ns = kBase + 23'000;
  work.context = 1;
  work.stream = 7;
  work.correlation = correlation;
  return work;
}

inline KernelActivity kernel_activity(std::uint32_t correlation) {
  KernelActivity kernel;
  kernel.work = gpu_work(correlation);
  kernel.name = "_Z3addPf";
  return kernel;
}

inline MemcpyRecord copy_activity(std::uint32_t correlation, std::uint64_t bytes) {
  MemcpyRecord copy;
  copy.work = gpu_work(correlation);
  copy.kind = CopyKind::HtoD;
  copy.bytes = bytes;
  return copy;
}

struct BuiltTrace {
  TemporaryFolder folder;
  std::unique_ptr<Recorder> recorder_owner = std::make_unique<Recorder>();
  Recorder& recorder = *recorder_owner;
  SegmentLog segments{{std::uint64_t{256} << 20, 0, false}, recorder.loss};
  KernelNames kernels{recorder.loss};
  TraceWriter writer{recorder, segments, kernels};
  TraceBuilder builder{recorder, kernels, writer, kBase};
  std::uint32_t model = recorder.paths.child({0, recorder.names.intern("model"), 0});
  std::uint32_t layer = recorder.paths.child({model, recorder.names.intern("layer"), 0});

  BuiltTrace() {
    REQUIRE(segments.open_folder(folder.path(), false));
    writer.set_header(header());
  }
  void event(const Event& event, std::span<const std::byte> extra = {}) {
    builder.on_event(kThread, event, extra);
  }
  void tick(std::int64_t after_base_ns) { builder.retry_pending(kBase + after_base_ns); }
  [[nodiscard]] WrittenTrace read() {
    segments.flush();
    return WrittenTrace(folder.path());
  }
  [[nodiscard]] std::uint64_t loss(Loss cause) const { return recorder.loss.get(cause); }
  [[nodiscard]] LaunchBalance balance(WorkKind kind) const {
    return builder.launches().balance()[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::uint32_t name(std::string_view text) { return recorder.names.intern(text); }
};

}  // namespace rangefinder::test
