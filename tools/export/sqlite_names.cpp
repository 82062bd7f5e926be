// SPDX-License-Identifier: Apache-2.0
//
// SqliteRows of names, of NVTX and of hardware samples.
#include <algorithm>

#include "schema/key_names.h"
#include "tools/analysis/kernel_text.h"
#include "tools/analysis/path_names.h"
#include "tools/export/nvtx_payload.h"
#include "tools/export/sqlite_inserts.h"
#include "tools/export/sqlite_rows.h"

namespace rangefinder {
namespace {

struct EnumRow {
  int id;
  const char* name;
  const char* label;
};
constexpr std::array kCopyKindRows{EnumRow{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
                                   EnumRow{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
                                   EnumRow{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
                                   EnumRow{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
                                   EnumRow{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
                                   EnumRow{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
                                   EnumRow{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
                                   EnumRow{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
                                   EnumRow{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
                                   EnumRow{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
                                   EnumRow{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"}};
constexpr std::array kMemoryKinds{EnumRow{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
                                  EnumRow{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
                                  EnumRow{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
                                  EnumRow{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
                                  EnumRow{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
                                  EnumRow{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
                                  EnumRow{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
                                  EnumRow{0xffff, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}};
constexpr std::array kEventTypes{EnumRow{kNsysNvtxCategory, "NvtxCategory", "NVTX category"},
                                 EnumRow{kNsysNvtxMark, "NvtxMark", "NVTX mark"},
                                 EnumRow{kNsysNvtxPushPop, "NvtxPushPopRange", "NVTX push/pop range"},
                                 EnumRow{kNsysNvtxStartEnd, "NvtxStartEndRange", "NVTX start/end range"},
                                 EnumRow{kNsysNvtxDomain, "NvtxDomainCreate", "NVTX domain"}};

/// "at::native::vectorized_elementwise_kernel<…>" without its namespaces and "<…>".
std::string kernel_base_name(const std::string& demangled) {
  constexpr std::string_view kArguments = "<…>";
  std::string out = short_kernel_name(demangled);
  for (std::size_t at = out.find(kArguments); at != std::string::npos; at = out.find(kArguments, at)) {
    out.erase(at, kArguments.size());
  }
  const std::size_t scope = out.rfind("::");
  return scope == std::string::npos || scope + 2 == out.size() ? out : out.substr(scope + 2);
}

}  // namespace

void SqliteRows::add_enumerations() {
  for (const EnumRow& row : kCopyKindRows) inserts_->copy_kinds.add(row.id, row.name, row.label);
  for (const EnumRow& row : kMemoryKinds) inserts_->memory_kinds.add(row.id, row.name, row.label);
  for (const EnumRow& row : kEventTypes) inserts_->event_types.add(row.id, row.name, row.label);
}

void SqliteRows::add_trace_facts() {
  const Header& header = trace_.header;
  const std::int64_t global_pid = global_tid(0);
  inserts_->session.add(header.base_unix_ns);
  inserts_->environment.add("Hostname", header.host);
  inserts_->environment.add("CUDA driver version", header.driver_version);
  inserts_->processes.add(global_pid, header.pid, header.executable);
  const std::pair<const char*, std::string> facts[] = {
      {"schema", kTraceSchema},
      {"tool_version", header.tool_version},
      {"folder", trace_.files.folder.string()},
      {"rank", header.rank},
      {"base_unix_ns", std::to_string(header.base_unix_ns)},
      {"last_ns", std::to_string(trace_.last_ns)},
      {"driver_release", header.driver_release},
      {"counters", header.counters},
      {"counters_reason", header.counters_reason},
      {"end_reason", trace_.end ? trace_.end->reason : "killed, or still running"}};
  for (const auto& [name, value] : facts) inserts_->trace.add(name, value);
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace_.loss[i] != 0) inserts_->loss.add(kLossCauses[i].name, trace_.loss[i], kLossCauses[i].meaning);
  }
}

void SqliteRows::add_names() {
  for (const auto& [thread, name] : trace_.threads) {
    inserts_->thread_names.add(string_id(name), 0, global_tid(thread));
  }
  for (const GpuRecord& gpu : trace_.gpus) {
    inserts_->gpus.add(gpu.id, gpu.name, gpu.uuid, gpu.compute_major, gpu.compute_minor, gpu.sm_count,
                       gpu.memory_bytes, gpu.l2_bytes, gpu.peak_dram_bytes_per_s, gpu.sm_clock_khz * 1000);
  }
  for (const auto& [id, context] : trace_.contexts)
    inserts_->contexts.add(id, context.gpu, context.null_stream);
  for (const auto& [key, stream] : trace_.streams) {
    // CUpti_ActivityStreamFlag: 1 default, 2 non-blocking, 3 the null stream.
    const auto context = trace_.contexts.find(stream.context);
    const bool is_null = context != trace_.contexts.end() && context->second.null_stream == stream.id;
    inserts_->streams.add(stream.id, stream.context, stream.priority,
                          is_null               ? 3
                          : stream.non_blocking ? 2
                                                : 1);
  }
  for (const auto& [id, path] : trace_.paths) {
    const std::uint32_t parent = trace_.parent_of(id);
    inserts_->paths.add(id, parent == 0 ? std::nullopt : std::optional(parent), path_depth(trace_.paths, id),
                        path.name, trace_.domain_name(path.domain), trace_.path_text(id));
  }
  SqliteInsert& nvtx_row = inserts_->nvtx;
  const auto name_event = [&](int type, std::uint32_t domain, std::uint32_t category,
                              const std::string& text) {
    nvtx_row.add(std::nullopt, std::nullopt, type, std::nullopt, category, std::nullopt, text, global_tid(0),
                 std::nullopt, string_id(text), domain, std::nullopt, std::nullopt, std::nullopt,
                 std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  };
  for (const auto& [id, name] : trace_.domains) name_event(kNsysNvtxDomain, id, 0, name);
  for (const auto& [key, name] : trace_.categories)
    name_event(kNsysNvtxCategory, key.first, key.second, name);
}

void SqliteRows::add_outline() {
  add_enumerations();
  add_trace_facts();
  add_names();
}

const SqliteRows::KernelTexts& SqliteRows::kernel_texts(std::uint32_t name) {
  const auto [it, is_new] = kernel_texts_.try_emplace(name);
  if (is_new) {
    const KernelNameRecord& known = trace_.kernel_name(name);
    it->second = {string_id(known.demangled), string_id(kernel_base_name(known.demangled)),
                  string_id(known.mangled), string_id(known.from_library)};
  }
  return it->second;
}

/// Columns uint64Value to floatValue.
void SqliteRows::nvtx(const NvtxExtras& extras) {
  SqliteInsert& row = inserts_->nvtx;
  const PayloadValue value = payload_value(extras);
  const auto column = [&](PayloadType type) {
    if (extras.payload_type != type) return row.bind(std::nullopt);
    std::visit(
        [&](const auto& number) {
          if constexpr (std::is_same_v<std::decay_t<decltype(number)>, std::monostate>) {
            row.bind(std::nullopt);
          } else {
            row.bind(number);
          }
        },
        value);
  };
  for (const PayloadType type : {PayloadType::u64, PayloadType::i64, PayloadType::f64, PayloadType::u32,
                                 PayloadType::i32, PayloadType::f32}) {
    column(type);
  }
}

void SqliteRows::add(const RangeRecord& range) {
  const std::string& text = range.name == 0 ? trace_.own_name(range.path) : trace_.text(range.name);
  SqliteInsert& row = inserts_->nvtx;
  row.bind(range.start_ns);
  row.bind(range.end_ns == kNoTime ? std::nullopt : std::optional(range.end_ns));
  row.bind(range.name == 0 ? kNsysNvtxPushPop : kNsysNvtxStartEnd);
  row.bind(range.id);
  row.bind(range.extras.category);
  row.bind(range.extras.color == 0 ? std::nullopt : std::optional(range.extras.color));
  row.bind(text);
  row.bind(global_tid(range.thread));
  row.bind(range.end_thread == 0 ? std::nullopt : std::optional(global_tid(range.end_thread)));
  row.bind(string_id(text));
  row.bind(range.domain);
  nvtx(range.extras);
  row.bind(range.path == 0 ? std::nullopt : std::optional(range.path));
  row.bind(std::nullopt);
  row.run();
}

void SqliteRows::add(const MarkRecord& mark) {
  const std::string& text = trace_.text(mark.name);
  SqliteInsert& row = inserts_->nvtx;
  row.bind(mark.at_ns);
  row.bind(std::nullopt);
  row.bind(kNsysNvtxMark);
  row.bind(std::nullopt);
  row.bind(mark.extras.category);
  row.bind(mark.extras.color == 0 ? std::nullopt : std::optional(mark.extras.color));
  row.bind(text);
  row.bind(global_tid(mark.thread));
  row.bind(std::nullopt);
  row.bind(string_id(text));
  row.bind(mark.domain);
  nvtx(mark.extras);
  row.bind(mark.path == 0 ? std::nullopt : std::optional(mark.path));
  row.bind(mark.range == 0 ? std::nullopt : std::optional(mark.range));
  row.run();
}

}  // namespace rangefinder
