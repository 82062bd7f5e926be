// SPDX-License-Identifier: Apache-2.0
//
// A trace in the format of PyTorch's profiler: one file per process, a JSON object that holds the events.
//
// The members are in libkineto's order. Holistic Trace Analysis finds the rank in the first lines, by a
// pattern that requires a space after "rank":, and reads only complete JSON.
#include <string>

#include "schema/json_text.h"
#include "tools/export/chrome_timeline.h"
#include "tools/export/export_format.h"

namespace rangefinder {
namespace {

// GPUs are processes 0, 1, … here. In a container a host process may have such an id.
constexpr std::int64_t kMinHostPid = 64;
constexpr std::int64_t kMaxHostPid = std::int64_t{1} << 22;
constexpr std::uint32_t kFirstReplacementPid = 5'000'000;

std::uint32_t host_pid(std::int64_t pid) {
  if (pid >= kMinHostPid && pid <= kMaxHostPid) return static_cast<std::uint32_t>(pid);
  return kFirstReplacementPid + static_cast<std::uint32_t>(pid & 63);
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

void append_device(std::string& out, const GpuRecord& gpu) {
  constexpr std::uint32_t kWarpThreads = 32;
  JsonObject device(out);
  device.number("id", gpu.id);
  device.text("name", gpu.name);
  device.number("totalGlobalMem", gpu.memory_bytes);
  device.number("computeMajor", gpu.compute_major);
  device.number("computeMinor", gpu.compute_minor);
  device.nonzero("maxThreadsPerMultiprocessor", gpu.warps_per_sm * kWarpThreads);
  device.number("warpSize", kWarpThreads);
  device.number("numSms", gpu.sm_count);
  device.nonzero("regsPerMultiprocessor", gpu.registers_per_sm);
  device.nonzero("sharedMemPerMultiprocessor", gpu.shared_bytes_per_sm);
  device.text("uuid", gpu.uuid);
  device.close();
}

void append_loss(std::string& out, const TraceOutline& trace) {
  JsonObject loss(out);
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace.loss[i] != 0) loss.open_named(kLossCauses[i].name) += std::to_string(trace.loss[i]);
  }
  loss.close();
}

void append_head(std::string& out, const TraceOutline& trace, TimeNs origin_ns) {
  out += "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
  const char* separator = "\n  ";
  for (const GpuRecord& gpu : trace.gpus) {
    out += separator;
    append_device(out, gpu);
    separator = ",\n  ";
  }
  out += "\n],\n";
  // Before any other text: a name could contain the word "rank".
  if (is_number(trace.header.rank)) {
    out += "\"distributedInfo\": {\"rank\": " + std::to_string(std::stoul(trace.header.rank)) + "},\n";
  }
  out += "\"host_name\": " + json_string(trace.header.host) + ",\n";
  out += "\"rangefinder\": {\"version\":" + json_string(trace.header.tool_version) + ",\"loss\":";
  append_loss(out, trace);
  out += "},\n\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": ";
  out += std::to_string(static_cast<TimeNs>(static_cast<std::uint64_t>(trace.header.base_unix_ns) +
                                            static_cast<std::uint64_t>(origin_ns)));
  out += ",\n\"traceEvents\": [\n";
}

void write_file(const TraceOutline& trace, const std::string& step_range, OutputFile& file,
                const std::string& name) {
  append_head(file.text(), trace, trace.first_ns);
  ChromeEvents events(file, trace.first_ns);
  ChromeRows rows(events);
  write_chrome_trace(trace, {host_pid(trace.header.pid), 0, 0}, {step_range}, events, rows, 0);
  file.text() += "\n],\n\"traceName\": " + json_string(name) + "\n}\n";
}

/// True if the user names a file: by the extension .json, or because it exists and is no folder.
bool is_one_file(const ExportRequest& request) {
  if (request.traces.size() != 1) return false;
  std::error_code ignored;
  const auto status = std::filesystem::status(request.out, ignored);
  return request.out == "-" || request.out.extension() == ".json" ||
         (std::filesystem::exists(status) && !std::filesystem::is_directory(status));
}

}  // namespace

ExportResult export_kineto(const ExportRequest& request) {
  return export_each(
      request, is_one_file(request), ".pt.trace.json",
      [&request](const TraceOutline& trace, const std::filesystem::path& target, ExportResult& result) {
        note_untimed(trace, trace.untimed, result);
        OutputFile file(target, request.overwrite);
        write_file(trace, request.step_range, file, target.string());
        file.commit();
      });
}

}  // namespace rangefinder
