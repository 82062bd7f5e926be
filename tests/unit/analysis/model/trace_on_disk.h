// SPDX-License-Identifier: Apache-2.0
//
// A trace in a temporary folder, made line by line with the library's own writer.
//
//   TraceOnDisk trace;             a small, valid trace: two modules, two kernels, an end
//   trace.lines[3] = …;            damage it
//   trace.write();                 write it for the tool to read
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "schema/read_line.h"
#include "schema/write_line.h"

namespace rangefinder::test {

template <typename Record>
std::string line_of(const Record& record) {
  std::string out;
  write_line(out, record);
  return out;
}

/// The text of a line that was read; empty for a kind without a writer.
inline std::string line_of(const Line& line) {
  std::string out;
  std::visit(
      [&out](const auto& record) {
        if constexpr (requires { write_line(out, record); }) write_line(out, record);
      },
      line);
  return out;
}

/// A file's bytes; empty if the file does not exist.
inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder that is removed with its content.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string text = (std::filesystem::temp_directory_path() / "rangefinder-test-XXXXXX").string();
    if (mkdtemp(text.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = text;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

inline Header header(std::uint32_t segment = 0) {
  Header out;
  out.segment = segment;
  out.base_unix_ns = 1'700'000'000'000'000'000;
  out.base_monotonic_ns = 5'000'000'000;
  out.tool_version = "0.1.0";
  out.pid = 4711;
  out.parent_pid = 1;
  out.host = "node7";
  out.executable = "/usr/bin/app";
  out.command = {"app"};
  out.counters = "off";
  return out;
}

inline GpuRecord gpu() {
  GpuRecord out;
  out.name = "Test GPU";
  out.uuid = "GPU-1";
  out.compute_major = 9;
  out.sm_count = 132;
  out.memory_bytes = 141'000'000'000;
  out.l2_bytes = 60'000'000;
  out.peak_dram_bytes_per_s = 4'800'000'000'000;
  return out;
}

inline PathRecord path(std::uint32_t id, std::uint32_t parent, std::string name) {
  return {id, parent, 0, std::move(name)};
}

inline KernelNameRecord kernel_name(std::uint32_t id, const std::string& demangled) {
  return {id, demangled, demangled, "own", "no known prefix"};
}

inline LaunchConfigRecord config(std::uint32_t id) {
  LaunchConfigRecord out;
  out.id = id;
  out.grid = {10, 1, 1};
  out.block = {256, 1, 1};
  return out;
}

inline LaunchRecord launch(std::uint32_t correlation, std::uint32_t in_path, std::uint64_t range = 0) {
  // Within both ranges of the trace below.
  return {{200, 210, 4711, in_path, range}, "cuLaunchKernel", correlation, 0, 0};
}

inline KernelRecord kernel(std::uint32_t correlation, std::uint32_t in_path, TimeNs start, TimeNs end,
                           std::uint64_t range = 0) {
  return {{start, end, 0, 1, 7, correlation, in_path, range}, 1, 1};
}

inline RangeRecord range(std::uint64_t id, std::uint32_t of_path, TimeNs start, TimeNs end) {
  return {id, start, end, 4711, 0, 0, of_path, 0, {}};
}

/// The end line of TraceOnDisk's initial trace.
inline EndRecord end_record() {
  EndRecord out;
  out.at_ns = 10'000;
  out.reason = "exit";
  out.records = {{"kernel", 2}, {"launch", 2}, {"range", 2}};
  out.balance[0] = {2, 2, 0, 0};
  return out;
}

struct TraceOnDisk {
  enum Line {
    kHeader,
    kGpu,
    kOuter,
    kInner,
    kName,
    kConfig,
    kLaunch1,
    kKernel1,
    kLaunch2,
    kKernel2,
    kRange2,
    kRange1,
    kFlush,
    kEnd
  };

  TemporaryFolder folder;
  std::vector<std::string> lines{line_of(header()),
                                 line_of(gpu()),
                                 line_of(path(1, 0, "model")),
                                 line_of(path(2, 1, "layer/0")),
                                 line_of(kernel_name(1, "void gemm<float>(float*, int)")),
                                 line_of(config(1)),
                                 line_of(launch(1, 1, 1)),
                                 line_of(kernel(1, 1, 1'000, 3'000, 1)),
                                 line_of(launch(2, 2, 2)),
                                 line_of(kernel(2, 2, 3'000, 4'000, 2)),
                                 line_of(range(2, 2, 150, 400)),
                                 line_of(range(1, 1, 50, 500)),
                                 line_of(FlushRecord{5'000, 6, {}}),
                                 line_of(end_record())};

  [[nodiscard]] std::filesystem::path segment(std::uint32_t number = 0) const {
    const std::string digits = std::to_string(number);
    return folder.path() / ("trace-" + std::string(5 - digits.size(), '0') + digits + ".ndjson");
  }

  template <typename Change>
  void change_end(const Change& change) {
    EndRecord end = end_record();
    change(end);
    lines[kEnd] = line_of(end);
  }

  /// Stacks 1 and 2 of one frame, then `more`, and a line of samples.
  void add_stacks(const std::vector<StackRecord>& more,
                  const std::vector<StackSample>& samples = {{0, 1}, {10, 2}}) {
    std::string& names = lines[kInner];
    names += line_of(FrameRecord{1, "main", "app.py", 10});
    for (const StackRecord& stack : {StackRecord{1, 0, 1}, StackRecord{2, 1, 1}}) names += line_of(stack);
    for (const StackRecord& stack : more) names += line_of(stack);
    lines[kFlush] += line_of(StackSampleRecord{1'000, 31'000, 4711, 10'000, samples});
    change_end([](EndRecord& end) { end.records.emplace_back("stack_sample", 1); });
  }

  void write(std::uint32_t number = 0) const {
    std::ofstream out(segment(number), std::ios::binary);
    for (const std::string& line : lines) out << line;
  }
};

}  // namespace rangefinder::test
