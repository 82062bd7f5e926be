// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_parts.h"

#include "schema/key_names.h"
#include "tools/export/time_span.h"

namespace rangefinder {

template <typename Add>
bool ChromeHost::call(const HostWork& host, std::string_view api, Add&& add) {
  if (!is_timed(host)) return false;
  context_.events.slice(context_.host_row(host.thread), "cuda_driver", context_.names.api(api), host.start_ns,
                        host.end_ns, add);
  return true;
}

void ChromeHost::launch_slice(const LaunchRecord& launch, std::string_view unmeasured) {
  const HostWork& host = launch.host;
  const bool timed = call(host, launch.api, [&](JsonObject& args) {
    args.number("correlation", launch.correlation);
    args.nonzero("External id", host.range);
    args.nonzero("result", launch.result);
    args.nonempty("unmeasured", unmeasured);
  });
  if (timed && context_.has_flow(launch.correlation)) {
    context_.events.flow('s', context_.host_row(host.thread),
                         context_.process.first_flow_id + launch.correlation, host.start_ns);
  }
}

void ChromeHost::add(const LaunchRecord& launch) {
  launch_slice(launch, {});
}

void ChromeHost::add(const ExactRecord& exact) {
  if (exact.is_counter_range) {
    counter_range(exact);
  } else {
    launch_slice(exact.launch, exact.reason);
  }
}

void ChromeHost::counter_range(const ExactRecord& exact) {
  const HostWork& host = exact.launch.host;
  if (!is_timed(host)) return;
  const RowKey key{context_.process.host_pid, RowKind::counter_range, host.thread, exact.gpu, 0};
  const ChromeRow row = context_.rows.lane(key, 0, host.start_ns, host.end_ns, [&] {
    return context_.trace.thread_name(host.thread) + " counter ranges, GPU " + std::to_string(exact.gpu);
  });
  const auto add = [&](JsonObject& args) {
    args.number("counter range", exact.counter_range);
    args.number("launches", exact.launches);
    args.number("kernels", exact.kernels);
    args.nonzero("External id", host.range);
    if (!exact.exclusive) args.text("exclusive", "no: other work is in it");
    if (!exact.measured) return args.nonempty("unmeasured", exact.reason);
    args.number("gpu_ns", exact.gpu_ns);
    if (!exact.has_bytes) return;
    args.number("dram_read_bytes", exact.dram_read_bytes);
    args.number("dram_write_bytes", exact.dram_write_bytes);
    args.number("l2_bytes", exact.l2_bytes);
  };
  context_.events.slice(row, "cuda_profiler_range", context_.names.path(host.path), host.start_ns,
                        host.end_ns, add);
}

void ChromeHost::add(const SyncRecord& sync) {
  call(sync.host, sync.api, [&](JsonObject& args) {
    args.nonzero("External id", sync.host.range);
    if (sync.event != 0) {
      args.handle("waits for event", sync.event);
    } else if (sync.stream != 0) {
      args.number("waits for stream", sync.stream);
    }
  });
}

void ChromeHost::add(const AllocRecord& alloc) {
  call(alloc.host, alloc.api, [&](JsonObject& args) {
    args.nonzero("External id", alloc.host.range);
    args.text("memory", to_text(alloc.kind));
    args.handle("address", alloc.address);
    if (!alloc.is_free) args.number("bytes", alloc.bytes);
  });
}

void ChromeHost::add(const EventRecord& event) {
  call(event.host, event.wait ? "cuStreamWaitEvent" : "cuEventRecord", [&](JsonObject& args) {
    args.nonzero("External id", event.host.range);
    args.handle("event", event.event);
    args.number("of stream", event.stream);
  });
}

void ChromeHost::add(const CaptureRecord& capture) {
  call(capture.host, capture_api(capture), [&](JsonObject& args) {
    args.nonzero("External id", capture.host.range);
    args.text("step", to_text(capture.step));
    args.number("of stream", capture.stream);
    args.nonzero_handle("graph", capture.graph);
    args.nonzero("result", capture.result);
  });
}

ChromeRow ChromeHost::overhead_row(TimeNs start_ns, TimeNs end_ns) {
  const RowKey key{context_.process.host_pid, RowKind::overhead, 0, 0, 0};
  return context_.rows.lane(key, 0, start_ns, end_ns,
                            [] { return std::string("overhead of CUDA and CUPTI"); });
}

void ChromeHost::add(const OverheadRecord& overhead) {
  if (!is_timed(overhead)) return;
  context_.events.slice(overhead_row(overhead.start_ns, overhead.end_ns), "overhead",
                        context_.names.api(overhead.what), overhead.start_ns, overhead.end_ns,
                        [&](JsonObject& args) {
                          args.nonzero("thread", overhead.thread);
                          args.nonzero("correlation of launch", overhead.correlation);
                        });
}

void ChromeHost::add(const GapRecord& gap) {
  if (!is_timed(gap)) return;
  context_.events.slice(overhead_row(gap.start_ns, gap.end_ns), "overhead", "\"another tool had CUPTI\"",
                        gap.start_ns, gap.end_ns, [&](JsonObject& args) { args.text("cause", gap.cause); });
}

void ChromeHost::add(const HostFunctionRecord& function) {
  if (!is_timed(function.wait)) return;
  context_.events.slice(context_.host_row(function.thread), "host_function", "\"host function\"",
                        function.wait.start_ns, function.wait.end_ns,
                        [&](JsonObject& args) { args.number("stream", function.wait.stream); });
}

void ChromeHost::add(const HoldRecord& hold) {
  if (!is_timed(hold)) return;
  context_.events.slice(context_.host_row(hold.thread), "overhead", "\"held by the profiler\"", hold.start_ns,
                        hold.end_ns, [&](JsonObject& args) { args.text("cause", to_text(hold.cause)); });
}

}  // namespace rangefinder
