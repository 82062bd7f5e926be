// SPDX-License-Identifier: Apache-2.0
//
// Lines that define ids and names, and lines about the trace itself. Mirrors
// write_tables.cpp.
#include <charconv>

#include "schema/key_names.h"
#include "schema/read_records.h"

namespace rangefinder {
namespace {

// Refuses traces that this program cannot read, with a message for the user.
void check_version(const LineKeys& keys) {
  std::string_view schema, version;
  keys.need("schema", schema);
  keys.need("version", version);
  if (schema != kTraceSchema) {
    keys.fail({"this is not a Rangefinder trace: schema is \"", schema, "\", not \"", kTraceSchema, "\""});
  }
  int major = 0;
  const char* const end = version.data() + version.size();
  const auto result = std::from_chars(version.data(), end, major);
  if (result.ec != std::errc{} || major < 1 || result.ptr == end || *result.ptr != '.') {
    keys.fail({"version \"", version, "\" is not MAJOR.MINOR"});
  }
  if (major > kSchemaMajor) {
    keys.fail({"the trace has format ", version, ", this program reads up to ", std::to_string(kSchemaMajor),
               ".x: use a newer Rangefinder"});
  }
}

template <typename Struct, std::size_t N>
void read_counts(const LineKeys& keys, const std::array<CountKey<Struct>, N>& names, Struct& counts) {
  for (const auto& [key, member] : names) keys.need(key, counts.*member);
}

void read_own_cost(const LineKeys& keys, OwnCost& cost) {
  for (std::size_t i = 0; i < kOwnCostKeys.size(); ++i) {
    const auto& [key, member] = kOwnCostKeys[i];
    if (i < kFirstOwnCostKeys) {
      keys.need(key, cost.*member);
    } else {
      keys.take(key, cost.*member);
    }
  }
}

void read_loss(const LineKeys& keys, std::array<std::uint64_t, kLossCauses.size()>& loss) {
  for (std::size_t i = 0; i < loss.size(); ++i) keys.take(kLossCauses[i].name, loss[i]);
}

}  // namespace

void read_record(const LineKeys& keys, Header& record) {
  check_version(keys);
  keys.need("segment", record.segment);
  keys.need_big("base_unix_ns", record.base_unix_ns);
  keys.need_big("base_monotonic_ns", record.base_monotonic_ns);
  keys.need("tool_version", record.tool_version);
  keys.need("pid", record.pid);
  keys.need("parent_pid", record.parent_pid);
  keys.need("host", record.host);
  keys.need("executable", record.executable);
  keys.need("command", record.command);
  keys.take("driver_version", record.driver_version);
  keys.take("driver_release", record.driver_release);
  keys.take("runtime_version", record.runtime_version);
  keys.take("cupti_version", record.cupti_version);
  keys.take("cupti_path", record.cupti_path);
  keys.need("counters", record.counters);
  keys.take("counters_reason", record.counters_reason);
  keys.take("rank", record.rank);
  keys.take("monitor_window", record.monitor_window_ns);
  keys.take("monitor_period", record.monitor_period_ns);
}

void read_record(const LineKeys& keys, GpuRecord& record) {
  keys.need("id", record.id);
  keys.need("name", record.name);
  keys.need("uuid", record.uuid);
  simdjson::dom::array capability;
  if (keys.must_find("compute_capability").get(capability) || capability.size() != 2) {
    keys.refuse("compute_capability", "an array of two integers");
  }
  keys.read("compute_capability", capability.at(0).value_unsafe(), record.compute_major);
  keys.read("compute_capability", capability.at(1).value_unsafe(), record.compute_minor);
  keys.need("sm_count", record.sm_count);
  keys.take("warps_per_sm", record.warps_per_sm);
  keys.take("registers_per_sm", record.registers_per_sm);
  keys.take("shared_bytes_per_sm", record.shared_bytes_per_sm);
  keys.need("memory_bytes", record.memory_bytes);
  keys.need("l2_bytes", record.l2_bytes);
  keys.take("memory_bus_bits", record.memory_bus_bits);
  keys.take("memory_clock_khz", record.memory_clock_khz);
  keys.take("sm_clock_khz", record.sm_clock_khz);
  keys.take("peak_dram_bytes_per_s", record.peak_dram_bytes_per_s);
  if (keys.has("peak_flops")) {
    const LineKeys peaks = keys.need_object("peak_flops");
    for (const auto [type, flops] : peaks.object()) {
      peaks.read(type, flops, record.peak_flops.emplace_back(std::string(type), 0.0).second);
    }
  }
  keys.take("mig", record.mig);
}

void read_record(const LineKeys& keys, ContextRecord& record) {
  keys.need("id", record.id);
  keys.need("gpu", record.gpu);
  keys.take("null_stream", record.null_stream);
  keys.take("green", record.green);
}

void read_record(const LineKeys& keys, StreamRecord& record) {
  keys.need("id", record.id);
  keys.need("ctx", record.context);
  keys.take("priority", record.priority);
  keys.take("non_blocking", record.non_blocking);
}

void read_record(const LineKeys& keys, ThreadRecord& record) {
  keys.need("id", record.id);
  keys.need("name", record.name);
}

void read_record(const LineKeys& keys, DomainRecord& record) {
  keys.need("id", record.id);
  keys.need("name", record.name);
}

void read_record(const LineKeys& keys, CategoryRecord& record) {
  keys.need("domain", record.domain);
  keys.need("id", record.id);
  keys.need("name", record.name);
}

void read_record(const LineKeys& keys, NameRecord& record) {
  keys.need("id", record.id);
  keys.need("text", record.text);
}

void read_record(const LineKeys& keys, PathRecord& record) {
  keys.need("id", record.id);
  keys.need("parent", record.parent);
  keys.need("name", record.name);
  keys.take("domain", record.domain);
}

void read_record(const LineKeys& keys, KernelNameRecord& record) {
  keys.need("id", record.id);
  keys.need("mangled", record.mangled);
  keys.need("demangled", record.demangled);
  keys.need("library", record.from_library);
  keys.need("evidence", record.evidence);
}

void read_record(const LineKeys& keys, LaunchConfigRecord& record) {
  keys.need("id", record.id);
  keys.need("grid", record.grid);
  keys.need("block", record.block);
  keys.take("cluster", record.cluster);
  keys.take("registers", record.registers);
  keys.take("static_shared_bytes", record.static_shared_bytes);
  keys.take("dynamic_shared_bytes", record.dynamic_shared_bytes);
  keys.take("shared_bytes_executed", record.shared_bytes_executed);
  keys.take("local_bytes_per_thread", record.local_bytes_per_thread);
}

void read_record(const LineKeys& keys, PayloadSchemaRecord& record) {
  keys.need("id", record.id);
  keys.take("domain", record.domain);
  static_cast<void>(keys.need_object("definition"));
}

void read_record(const LineKeys& keys, MetricSetRecord& record) {
  keys.need("id", record.id);
  keys.need("name", record.name);
  keys.need("metrics", record.metrics);
}

void read_record(const LineKeys& keys, ClockRecord& record) {
  keys.need_time("at", record.at_ns);
  keys.need_time("monotonic", record.monotonic_ns);
}

void read_record(const LineKeys& keys, FlushRecord& record) {
  keys.need_time("at", record.at_ns);
  keys.need("records", record.records);
  if (keys.has("loss")) read_loss(keys.need_object("loss"), record.loss);
}

void read_record(const LineKeys& keys, EndRecord& record) {
  keys.need_time("at", record.at_ns);
  keys.need("reason", record.reason);
  const LineKeys records = keys.need_object("records");
  for (const auto [kind, lines] : records.object()) {
    records.read(kind, lines, record.records.emplace_back(std::string(kind), 0).second);
  }
  const LineKeys launches = keys.need_object("launches");
  for (std::size_t i = 0; i < record.balance.size(); ++i) {
    read_counts(launches.need_object(kWorkKindNames[i]), kBalanceKeys, record.balance[i]);
  }
  if (keys.has("truth")) read_counts(keys.need_object("truth"), kTruthKeys, record.truth);
  read_loss(keys.need_object("loss"), record.loss);
  read_own_cost(keys.need_object("own_cost"), record.own_cost);
}

}  // namespace rangefinder
