// SPDX-License-Identifier: Apache-2.0
//
// Event lines. Mirrors write_line.cpp. `exact` lines: read_exact.cpp.
#include <bit>
#include <charconv>
#include <cmath>

#include "schema/key_names.h"
#include "schema/read_records.h"

namespace rangefinder {
namespace {

void read_gpu_work(const LineKeys& keys, GpuWork& work) {
  if (keys.has("start") || keys.has("end")) {
    keys.need_time("start", work.start_ns);
    keys.need_time("end", work.end_ns);
  }
  keys.need("gpu", work.gpu);
  keys.need("ctx", work.context);
  keys.need("stream", work.stream);
  keys.need("corr", work.correlation);
  keys.take("path", work.path);
  keys.take("range", work.range);
  keys.take("graph", work.graph);
  if (std::uint64_t number = 0; keys.has("node")) {
    keys.need("node", number);
    work.graph_node = node_id(work.graph, number);
  }
  keys.take("captured", work.captured);
}

// A number, or a string if a JSON number cannot represent it.
template <std::integral T>
T payload_integer(const LineKeys& keys, simdjson::dom::element element) {
  T value = 0;
  std::string_view text;
  if (element.get(text)) {
    keys.read("payload", element, value);
    return value;
  }
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    keys.refuse("payload", "a number of its payload_type");
  }
  return value;
}

double payload_real(const LineKeys& keys, simdjson::dom::element element) {
  std::string_view text;
  double value = 0;
  if (element.get(text)) {
    keys.read("payload", element, value);
    return value;
  }
  if (text == "nan") return std::nan("");
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  keys.refuse("payload", "a number, \"nan\", \"inf\" or \"-inf\"");
}

// The bits of the value, as in NvtxExtras::payload.
std::uint64_t payload_bits(const LineKeys& keys, simdjson::dom::element element, PayloadType type) {
  switch (type) {
    case PayloadType::i64:
      return static_cast<std::uint64_t>(payload_integer<std::int64_t>(keys, element));
    case PayloadType::u32:
      return payload_integer<std::uint32_t>(keys, element);
    case PayloadType::i32:
      return static_cast<std::uint32_t>(payload_integer<std::int32_t>(keys, element));
    case PayloadType::f64:
      return std::bit_cast<std::uint64_t>(payload_real(keys, element));
    case PayloadType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(payload_real(keys, element)));
    default:
      return payload_integer<std::uint64_t>(keys, element);
  }
}

void read_hex(const LineKeys& keys, std::string_view text, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    if (text.size() - i < 2 || std::from_chars(text.data() + i, end, byte, 16).ptr != end) {
      keys.refuse("payload_data", "pairs of hexadecimal digits");
    }
    bytes.push_back(byte);
  }
}

std::uint32_t read_color(const LineKeys& keys, std::string_view text) {
  std::uint32_t color = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != 9 || text[0] != '#' || std::from_chars(text.data() + 1, end, color, 16).ptr != end) {
    keys.refuse("color", "a string like \"#FF00AA33\"");
  }
  return color;
}

void read_extras(const LineKeys& keys, NvtxExtras& extras) {
  keys.take("category", extras.category);
  std::string_view text;
  keys.take("color", text);
  if (!text.empty()) extras.color = read_color(keys, text);
  if (keys.has("payload") || keys.has("payload_type")) {
    const simdjson::dom::element payload = keys.must_find("payload");
    keys.need("payload_type", extras.payload_type, kPayloadTypeNames);
    extras.payload = payload_bits(keys, payload, extras.payload_type);
  }
  keys.take("payload_schema", extras.payload_schema);
  text = {};
  keys.take("payload_data", text);
  if (extras.payload_schema != 0) read_hex(keys, text, extras.payload_data);
}

}  // namespace

void read_host_work(const LineKeys& keys, HostWork& host) {
  keys.need_time("start", host.start_ns);
  keys.need_time("end", host.end_ns);
  keys.need("thread", host.thread);
  keys.take("path", host.path);
  keys.take("range", host.range);
}

void read_record(const LineKeys& keys, KernelRecord& record) {
  read_gpu_work(keys, record.work);
  keys.need("name", record.name);
  keys.need("config", record.config);
}

void read_record(const LineKeys& keys, MemcpyRecord& record) {
  read_gpu_work(keys, record.work);
  keys.need("kind", record.kind, kCopyKindNames);
  keys.need("src", record.source, kMemoryKindNames);
  keys.need("dst", record.destination, kMemoryKindNames);
  keys.need("bytes", record.bytes);
  keys.take("async", record.async);
  keys.take("count", record.count);
  if (record.kind != CopyKind::PtoP) return;
  keys.need("src_gpu", record.source_gpu);
  keys.need("dst_gpu", record.destination_gpu);
}

void read_record(const LineKeys& keys, MemsetRecord& record) {
  read_gpu_work(keys, record.work);
  keys.need("bytes", record.bytes);
  keys.take("value", record.value);
  keys.need("memory", record.memory, kMemoryKindNames);
}

void read_record(const LineKeys& keys, GraphRecord& record) {
  read_gpu_work(keys, record.work);
}

void read_record(const LineKeys& keys, LaunchRecord& record) {
  read_host_work(keys, record.host);
  keys.need_kept("api", record.api);
  keys.need("corr", record.correlation);
  keys.take("ctx", record.context);
  keys.take("result", record.result);
}

void read_record(const LineKeys& keys, SyncRecord& record) {
  read_host_work(keys, record.host);
  keys.need_kept("api", record.api);
  keys.take("ctx", record.context);
  keys.take("stream", record.stream);
  keys.take_handle("event", record.event);
}

void read_record(const LineKeys& keys, AllocRecord& record) {
  read_host_work(keys, record.host);
  keys.need_kept("api", record.api);
  keys.need("memory", record.kind, kAllocKindNames);
  keys.need_handle("address", record.address);
  keys.take("bytes", record.bytes);
  keys.take("ctx", record.context);
  keys.take("stream", record.stream);
  keys.take_handle("pool", record.pool);
}

void read_record(const LineKeys& keys, EventRecord& record) {
  read_host_work(keys, record.host);
  keys.need_handle("event", record.event);
  keys.take("stream", record.stream);
  keys.take("ctx", record.context);
}

void read_record(const LineKeys& keys, CaptureRecord& record) {
  read_host_work(keys, record.host);
  keys.need("step", record.step, kCaptureStepNames);
  keys.take("stream", record.stream);
  keys.take("ctx", record.context);
  keys.take_handle("graph", record.graph);
  keys.take("result", record.result);
}

void read_record(const LineKeys& keys, OverheadRecord& record) {
  keys.need_time("start", record.start_ns);
  keys.need_time("end", record.end_ns);
  keys.take("thread", record.thread);
  keys.need_kept("what", record.what);
  keys.take("corr", record.correlation);
}

void read_record(const LineKeys& keys, RangeRecord& record) {
  keys.need_time("start", record.start_ns);
  const simdjson::dom::element end = keys.must_find("end");
  if (!end.is_null()) keys.read_time("end", end, record.end_ns);
  keys.need("id", record.id);
  keys.need("thread", record.thread);
  keys.take("domain", record.domain);
  keys.take("name", record.name);
  if (record.name == 0) {
    keys.need("path", record.path);
  } else {
    keys.take("path", record.path);
    keys.take("end_thread", record.end_thread);
  }
  read_extras(keys, record.extras);
}

void read_record(const LineKeys& keys, MarkRecord& record) {
  keys.need_time("at", record.at_ns);
  keys.need("thread", record.thread);
  keys.take("domain", record.domain);
  keys.need("name", record.name);
  keys.take("path", record.path);
  keys.take("range", record.range);
  read_extras(keys, record.extras);
}

}  // namespace rangefinder
