// SPDX-License-Identifier: Apache-2.0
//
// All traces as one timeline: an array of Chrome events, which Perfetto reads even if it is truncated.
//
//   [ {…},                 ids are unique over all processes and traces,
//     {…} ]                times are relative to the earliest time of all traces
#include <algorithm>
#include <deque>
#include <set>

#include "tools/export/chrome_timeline.h"
#include "tools/export/export_format.h"

namespace rangefinder {
namespace {

// Linux process ids are at most 2^22 (PID_MAX_LIMIT); larger ids are free for rows.
constexpr std::uint32_t kMaxPid = 1u << 22;
constexpr std::uint32_t kFirstOwnPid = 5'000'000;
constexpr std::uint32_t kFirstGpuPid = 10'000'000;
constexpr std::uint32_t kGpuPidsATrace = 1'000;

/// a - b with wraparound: a damaged header may make it overflow.
TimeNs difference(TimeNs a, TimeNs b) {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
TimeNs sum(TimeNs a, TimeNs b) {
  return static_cast<TimeNs>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Ranks on several hosts may have the same process id.
ChromeProcess process_of(const TraceOutline& trace, std::uint32_t number,
                         std::set<std::uint32_t>& used_pids) {
  ChromeProcess out;
  const bool is_pid = trace.header.pid > 0 && trace.header.pid <= std::int64_t{kMaxPid};
  out.host_pid = is_pid ? static_cast<std::uint32_t>(trace.header.pid) : kFirstOwnPid + number;
  if (!used_pids.insert(out.host_pid).second) out.host_pid = kFirstOwnPid + number;
  out.first_gpu_pid = kFirstGpuPid + number * kGpuPidsATrace;
  out.first_flow_id = std::uint64_t{number} << 32;
  return out;
}

}  // namespace

ExportResult export_perfetto(const ExportRequest& request) {
  OutputFile file(request.out, request.overwrite);
  ExportResult result;
  std::deque<TraceOutline> outlines;
  TimeNs origin_unix_ns = INT64_MAX;
  for (const TraceFolder& trace : request.traces) {
    const TraceOutline& outline = outlines.emplace_back(read_outline(trace));
    origin_unix_ns = std::min(origin_unix_ns, sum(outline.header.base_unix_ns, outline.first_ns));
    note_trace(outline, result);
    note_untimed(outline, outline.untimed, result);
  }
  file.text() += '[';
  ChromeEvents events(file, 0);
  ChromeRows rows(events);
  std::set<std::uint32_t> used_pids;
  std::uint32_t number = 0;
  for (const TraceOutline& outline : outlines) {
    events.set_origin(difference(origin_unix_ns, outline.header.base_unix_ns));
    const ChromeProcess process = process_of(outline, number, used_pids);
    write_chrome_trace(outline, process, {request.step_range}, events, rows, number * kGpuPidsATrace);
    ++number;
  }
  file.text() += "]\n";
  file.commit();
  result.files.push_back(request.out);
  return result;
}

}  // namespace rangefinder
