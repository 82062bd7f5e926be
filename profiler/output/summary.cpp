// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/summary.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "schema/json_text.h"
#include "schema/key_names.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

// The same replacement for broken bytes as in the trace, so that names can be compared.
std::string valid(std::string_view text) {
  std::string out;
  append_valid_utf8(out, text);
  return out;
}

void append(std::string& out, const Json& value) {
  out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Members of the outermost object and elements of its arrays, one a line.
class Document {
 public:
  explicit Document(std::string& out) : out_(out) {}

  void member(const char* key, const Json& value) {
    begin(key);
    append(out_, value);
  }
  template <typename Rows, typename ToJson>
  void array(const char* key, const Rows& rows, ToJson to_json) {
    begin(key);
    const char* separator = "[\n";
    for (const auto& row : rows) {
      out_ += separator;
      append(out_, to_json(row));
      separator = ",\n";
    }
    out_ += rows.empty() ? "[]" : "\n]";
  }
  void close() { out_ += "\n}\n"; }

 private:
  void begin(const char* key) {
    out_ += first_ ? "{\n\"" : ",\n\"";
    first_ = false;
    out_ += key;
    out_ += "\": ";
  }

  std::string& out_;
  bool first_ = true;
};

// The keys of a line of the trace, without `leave_out`: defined once, in write_line.
template <typename Record>
Json line_keys(const Record& record, std::initializer_list<const char*> leave_out) {
  std::string line;
  write_line(line, record);
  Json keys = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  for (const char* const key : leave_out) keys.erase(key);
  return keys;
}

// Absent unless something was measured: a sum over nothing is no zero.
void add_counters(Json& row, const CounterTotals& counters) {
  if (counters.measured != 0) {
    row["dram_read_bytes"] = counters.dram_read_bytes;
    row["dram_write_bytes"] = counters.dram_write_bytes;
    row["l2_bytes"] = counters.l2_bytes;
    row["bytes_source"] = "exact";
    row["measured_launches"] = counters.measured;
  }
  if (counters.unmeasured != 0) row["unmeasured_launches"] = counters.unmeasured;
}

Json totals_row(const PathTotals& totals) {
  const bool by_record = totals.activity_kernels != 0;
  const bool by_counter = totals.counters.measured_kernels != 0;
  Json row;
  row["depth"] = totals.depth;
  row["calls"] = totals.calls;
  row["kernels"] = totals.kernels;
  if (by_record || by_counter || totals.kernels == 0) {
    row["gpu_ns"] = totals.gpu_ns;
    row["gpu_ns_exclusive"] = totals.gpu_ns_exclusive;
  }
  if (by_record) row["gpu_busy_ns"] = totals.gpu_busy_ns;
  row["host_ns"] = totals.host_ns;
  if (by_record || by_counter) {
    row["time_source"] = !by_counter ? "activity" : !by_record ? "counter" : "mixed";
  }
  add_counters(row, totals.counters);
  if (totals.declared_bytes != 0) row["declared_bytes"] = totals.declared_bytes;
  for (std::size_t kind = 0; kind < kCopyKinds; ++kind) {
    if (totals.memcpy_bytes[kind] == 0) continue;
    row["memcpy_bytes"][std::string(kCopyKindNames[kind])] = totals.memcpy_bytes[kind];
  }
  return row;
}

Json module_row(const SummaryInput& input, const PathTotals& totals) {
  Json row;
  row["path"] = valid(join_path(totals.path, input.path_name, input.path_parent));
  row.update(totals_row(totals));
  return row;
}

Json kernel_row(const KernelTotals& totals, std::string_view name, std::string_view library) {
  Json row;
  row["name"] = valid(name);
  row["library"] = valid(library);
  row["count"] = totals.count;
  if (totals.timed != 0) {
    row["total_ns"] = totals.total_ns;
    row["min_ns"] = totals.min_ns;
    row["max_ns"] = totals.max_ns;
  }
  add_counters(row, totals.counters);
  return row;
}

Json copy_row(const MemcpyTotals& totals) {
  Json row;
  row["kind"] = to_text(totals.kind);
  row["src"] = to_text(totals.source);
  row["dst"] = to_text(totals.destination);
  row["count"] = totals.count;
  row["bytes"] = totals.bytes;
  if (totals.timed != 0) row["total_ns"] = totals.total_ns;
  return row;
}

KernelTotals sum_of(const std::vector<KernelTotals>& rows, std::size_t first) {
  KernelTotals sum;
  for (std::size_t i = first; i < rows.size(); ++i) {
    const KernelTotals& row = rows[i];
    if (row.timed != 0) {
      sum.min_ns = sum.timed == 0 ? row.min_ns : std::min(sum.min_ns, row.min_ns);
      sum.max_ns = std::max(sum.max_ns, row.max_ns);
    }
    sum.count += row.count;
    sum.timed += row.timed;
    sum.total_ns += row.total_ns;
    sum.counters += row.counters;
  }
  return sum;
}

// Heaviest first; the rest in one row.
void add_kernels(Document& document, const SummaryInput& input) {
  std::vector<KernelTotals> rows = input.totals.kernels();
  const bool capped = rows.size() > kSummaryKernels;
  if (capped) {
    rows[kSummaryKernels] = sum_of(rows, kSummaryKernels);
    rows.resize(kSummaryKernels + 1);
  }
  const KernelTotals* const other = capped ? &rows.back() : nullptr;
  document.array("kernels", rows, [&](const KernelTotals& row) {
    if (&row == other) return kernel_row(row, "(other)", "");
    const KernelNameRecord* const name = input.kernel_name(row.name);
    return name ? kernel_row(row, name->demangled, name->library) : kernel_row(row, "(unknown)", "");
  });
}

bool write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string summary_json(const SummaryInput& input) {
  Json loss = Json::object(), cost = Json::object();
  for (std::size_t i = 0; i < input.loss.size(); ++i) {
    if (input.loss[i] != 0) loss[kLossCauses[i].name] = input.loss[i];
  }
  for (const auto& [key, member] : kOwnCostKeys) cost[std::string(key)] = input.own_cost.*member;

  std::vector<PathTotals> paths = input.totals.paths();
  const PathTotals outside = paths.back();  // always there, always last
  paths.pop_back();

  std::string out;
  Document document(out);
  document.member("schema", kSummarySchema);
  document.member("version", kSchemaVersion);
  document.member("final", input.final);
  document.member("process", line_keys(input.header, {"t", "schema", "version", "segment"}));
  document.member("duration_ns", input.duration_ns);
  document.array("gpus", input.gpus, [](const GpuRecord& gpu) { return line_keys(gpu, {"t"}); });
  document.array("modules", paths, [&](const PathTotals& row) { return module_row(input, row); });
  document.member("outside", totals_row(outside));
  add_kernels(document, input);
  document.array("memcpy", input.totals.copies(), copy_row);
  document.member("findings", Json::array());
  document.member("loss", loss);
  document.member("own_cost", cost);
  document.close();
  return out;
}

bool write_atomically(const std::string& path, std::string_view text) noexcept {
  std::string temporary;
  try {
    temporary = path + ".tmp";
  } catch (...) {
    errno = ENOMEM;
    return false;
  }
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return false;
  bool done = write_all(file, text);
  int cause = errno;
  if (::close(file) != 0 && done) {  // some file systems report a full disk only here
    done = false;
    cause = errno;
  }
  if (done && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  if (done) cause = errno;
  ::unlink(temporary.c_str());
  errno = cause;
  return false;
}

}  // namespace rangefinder
