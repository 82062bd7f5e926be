// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_timeline.h"

#include <filesystem>
#include <variant>

#include "tools/analysis/model/trace_reader.h"
#include "tools/export/chrome_parts.h"

namespace rangefinder {

namespace {

template <typename Make>
const std::string& cached(std::unordered_map<std::uint32_t, std::string>& texts, std::uint32_t id,
                          Make&& make) {
  const auto [it, is_new] = texts.try_emplace(id);
  if (is_new) it->second = json_string(make());
  return it->second;
}

}  // namespace

const std::string& ChromeNames::kernel(std::uint32_t name) {
  return cached(kernels_, name, [&] { return trace_.kernel_name(name).demangled; });
}

const std::string& ChromeNames::path(std::uint32_t path) {
  return cached(paths_, path, [&] { return trace_.path_text(path); });
}

const std::string& ChromeNames::own(std::uint32_t path) {
  return cached(own_, path, [&] { return trace_.own_name(path); });
}

const std::string& ChromeNames::text(std::uint32_t name) {
  return cached(texts_, name, [&] { return trace_.text(name); });
}

const std::string& ChromeNames::function(std::uint32_t frame) {
  return cached(functions_, frame, [&] { return trace_.host_stacks.frame(frame).function; });
}

const std::string& ChromeNames::api(std::string_view api) {
  const auto it = apis_.find(api);
  return it != apis_.end() ? it->second : apis_.emplace(api, json_string(api)).first->second;
}

void write_chrome_trace(const TraceOutline& trace, const ChromeProcess& process, const ChromeOptions& options,
                        ChromeEvents& events, ChromeRows& rows, std::uint32_t sort_index) {
  const std::string program = std::filesystem::path(trace.header.executable).filename().string();
  const std::string rank = trace.header.rank.empty() ? "" : "rank " + trace.header.rank + ", ";
  const std::string where =
      " (" + rank + trace.header.host + ", process " + std::to_string(trace.header.pid) + ")";
  rows.process(process.host_pid, program + where, sort_index++);
  for (const GpuRecord& gpu : trace.gpus) {
    rows.process(process.first_gpu_pid + gpu.id,
                 "GPU " + std::to_string(gpu.id) + ": " + gpu.name + (rank.empty() ? "" : where),
                 sort_index++);
  }
  LineReader reader;
  ChromeContext context{trace, process, options, events, rows, ChromeNames(trace)};
  ChromeHost host(context);
  ChromeGpu gpu(context);
  ChromeNvtx nvtx(context);
  ChromeStacks stacks(context);
  ChromeSamples samples(context);
  ChromeConditions conditions(context);
  const auto add = [&](const auto& record) {
    const auto add_to = [&record](auto& part) {
      if constexpr (requires { part.add(record); }) part.add(record);
    };
    add_to(host);
    add_to(gpu);
    add_to(nvtx);
    add_to(stacks);
    add_to(samples);
    add_to(conditions);
  };
  // read_outline() has reported what is broken.
  (void)read_lines(trace.files, reader,
                   [&add](const Line& line, const LinePlace&) { std::visit(add, line); });
  // The buffered events.
  gpu.finish();
  stacks.finish();
  samples.finish();
}

}  // namespace rangefinder
