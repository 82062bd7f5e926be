// SPDX-License-Identifier: Apache-2.0
//
// Lines that define ids and names, and lines about the trace itself. Rarely written, so
// optimised for readability. Event lines: write_line.cpp.
#include <algorithm>

#include "schema/json_text.h"
#include "schema/key_names.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

/// A JSON object with its kind, ended by a newline.
class TableLine : public JsonObject {
 public:
  TableLine(std::string& out, std::string_view kind) : JsonObject(out), out_(out) { text("t", kind); }

  void end() {
    close();
    out_ += '\n';
  }
  /// A 64-bit integer as text: JSON readers round numbers over 2^53.
  void big_number(JsonKey key, std::int64_t value) {
    std::string& to = open(key);
    char buffer[24];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    to += '"';
    to.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
    to += '"';
  }
  void numbers(JsonKey key, std::initializer_list<std::uint32_t> values) {
    std::string& to = open(key);
    char separator = '[';
    for (const std::uint32_t value : values) {
      to += separator;
      append_number(to, value);
      separator = ',';
    }
    to += ']';
  }
  void dim3(JsonKey key, const Dim3& value) { numbers(key, {value.x, value.y, value.z}); }

  static void append_number(std::string& to, std::uint64_t value) {
    char buffer[24];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    to.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
  }

 private:
  std::string& out_;
};

void add_loss(TableLine& line, const std::array<std::uint64_t, kLossCauses.size()>& loss) {
  JsonObject causes(line.open("loss"));
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (loss[i] != 0) TableLine::append_number(causes.open_named(kLossCauses[i].name), loss[i]);
  }
  causes.close();
}

template <typename Struct, std::size_t N>
void append_counts(std::string& out, const std::array<CountKey<Struct>, N>& keys, const Struct& counts) {
  JsonObject object(out);
  for (const auto& [key, member] : keys) TableLine::append_number(object.open_named(key), counts.*member);
  object.close();
}

}  // namespace

void write_line(std::string& out, const Header& record) {
  TableLine line(out, "header");
  line.text("schema", kTraceSchema);
  line.text("version", kSchemaVersion);
  line.number("segment", record.segment);
  line.big_number("base_unix_ns", record.base_unix_ns);
  line.big_number("base_monotonic_ns", record.base_monotonic_ns);
  line.text("tool_version", record.tool_version);
  line.number("pid", record.pid);
  line.number("parent_pid", record.parent_pid);
  line.text("host", record.host);
  line.text("executable", record.executable);
  line.texts("command", record.command);
  line.nonzero("driver_version", record.driver_version);
  line.nonempty("driver_release", record.driver_release);
  line.nonzero("runtime_version", record.runtime_version);
  line.nonzero("cupti_version", record.cupti_version);
  line.nonempty("cupti_path", record.cupti_path);
  line.text("counters", record.counters);
  line.nonempty("counters_reason", record.counters_reason);
  line.nonempty("rank", record.rank);
  line.nonzero("monitor_window", record.monitor_window_ns);
  line.nonzero("monitor_period", record.monitor_period_ns);
  line.end();
}

void write_line(std::string& out, const GpuRecord& record) {
  TableLine line(out, "gpu");
  line.number("id", record.id);
  line.text("name", record.name);
  line.text("uuid", record.uuid);
  line.numbers("compute_capability", {record.compute_major, record.compute_minor});
  line.number("sm_count", record.sm_count);
  line.nonzero("warps_per_sm", record.warps_per_sm);
  line.nonzero("registers_per_sm", record.registers_per_sm);
  line.nonzero("shared_bytes_per_sm", record.shared_bytes_per_sm);
  line.number("memory_bytes", record.memory_bytes);
  line.number("l2_bytes", record.l2_bytes);
  line.nonzero("memory_bus_bits", record.memory_bus_bits);
  line.nonzero("memory_clock_khz", record.memory_clock_khz);
  line.nonzero("sm_clock_khz", record.sm_clock_khz);
  line.nonzero("peak_dram_bytes_per_s", record.peak_dram_bytes_per_s);
  if (!record.peak_flops.empty()) {
    JsonObject peaks(line.open("peak_flops"));
    for (const auto& [type, flops] : record.peak_flops) {
      append_json_real(peaks.open_named(type), flops);
    }
    peaks.close();
  }
  line.flag("mig", record.mig);
  line.end();
}

void write_line(std::string& out, const ContextRecord& record) {
  TableLine line(out, "context");
  line.number("id", record.id);
  line.number("gpu", record.gpu);
  line.nonzero("null_stream", record.null_stream);
  line.flag("green", record.green);
  line.end();
}

void write_line(std::string& out, const StreamRecord& record) {
  TableLine line(out, "stream");
  line.number("id", record.id);
  line.number("ctx", record.context);
  line.nonzero("priority", record.priority);
  line.flag("non_blocking", record.non_blocking);
  line.end();
}

void write_line(std::string& out, const ThreadRecord& record) {
  TableLine line(out, "thread");
  line.number("id", record.id);
  line.text("name", record.name);
  line.end();
}

void write_line(std::string& out, const DomainRecord& record) {
  TableLine line(out, "domain");
  line.number("id", record.id);
  line.text("name", record.name);
  line.end();
}

void write_line(std::string& out, const CategoryRecord& record) {
  TableLine line(out, "category");
  line.number("domain", record.domain);
  line.number("id", record.id);
  line.text("name", record.name);
  line.end();
}

void write_line(std::string& out, const NameRecord& record) {
  TableLine line(out, "name");
  line.number("id", record.id);
  line.text("text", record.text);
  line.end();
}

void write_line(std::string& out, const PathRecord& record) {
  TableLine line(out, "path");
  line.number("id", record.id);
  line.number("parent", record.parent);
  line.text("name", record.name);
  line.nonzero("domain", record.domain);
  line.end();
}

void write_line(std::string& out, const KernelNameRecord& record) {
  TableLine line(out, "kernel_name");
  line.number("id", record.id);
  line.text("mangled", record.mangled);
  line.text("demangled", record.demangled);
  line.text("library", record.from_library);
  line.text("evidence", record.evidence);
  line.end();
}

void write_line(std::string& out, const LaunchConfigRecord& record) {
  TableLine line(out, "config");
  line.number("id", record.id);
  line.dim3("grid", record.grid);
  line.dim3("block", record.block);
  if (record.cluster != Dim3{}) line.dim3("cluster", record.cluster);
  line.nonzero("registers", record.registers);
  line.nonzero("static_shared_bytes", record.static_shared_bytes);
  line.nonzero("dynamic_shared_bytes", record.dynamic_shared_bytes);
  line.nonzero("shared_bytes_executed", record.shared_bytes_executed);
  line.nonzero("local_bytes_per_thread", record.local_bytes_per_thread);
  line.end();
}

void write_line(std::string& out, const PayloadSchemaRecord& record) {
  TableLine line(out, "payload_schema");
  line.number("id", record.id);
  line.nonzero("domain", record.domain);
  std::string& to = line.open("definition");
  const std::size_t begin = to.size();
  to += record.definition.empty() ? std::string_view("{}") : std::string_view(record.definition);
  // In valid JSON a raw line break is only white space, but here it would end the line.
  std::replace_if(
      to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
  line.end();
}

void write_line(std::string& out, const MetricSetRecord& record) {
  TableLine line(out, "metric_set");
  line.number("id", record.id);
  line.text("name", record.name);
  line.texts("metrics", record.metrics);
  line.end();
}

void write_line(std::string& out, const ClockRecord& record) {
  TableLine line(out, "clock");
  line.number("at", record.at_ns);
  line.number("monotonic", record.monotonic_ns);
  line.end();
}

void write_line(std::string& out, const FlushRecord& record) {
  TableLine line(out, "flush");
  line.number("at", record.at_ns);
  line.number("records", record.records);
  if (std::any_of(record.loss.begin(), record.loss.end(), [](std::uint64_t n) { return n != 0; })) {
    add_loss(line, record.loss);
  }
  line.end();
}

void write_line(std::string& out, const EndRecord& record) {
  TableLine line(out, "end");
  line.number("at", record.at_ns);
  line.text("reason", record.reason);
  JsonObject records(line.open("records"));
  for (const auto& [kind, lines] : record.records) {
    TableLine::append_number(records.open_named(kind), lines);
  }
  records.close();
  JsonObject launches(line.open("launches"));
  for (std::size_t i = 0; i < record.balance.size(); ++i) {
    append_counts(launches.open_named(kWorkKindNames[i]), kBalanceKeys, record.balance[i]);
  }
  launches.close();
  if (record.truth.copies != 0) append_counts(line.open("truth"), kTruthKeys, record.truth);
  add_loss(line, record.loss);
  append_counts(line.open("own_cost"), kOwnCostKeys, record.own_cost);
  line.end();
}

}  // namespace rangefinder
