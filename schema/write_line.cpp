// SPDX-License-Identifier: Apache-2.0
//
// Event lines, the frequent ones. `exact` lines: write_exact.cpp. Lines that define ids and
// names, and lines about the trace itself: write_tables.cpp.
#include "schema/write_line.h"

#include <bit>

#include "schema/event_line.h"
#include "schema/hot_line.h"
#include "schema/key_names.h"

namespace rangefinder {
namespace {

// Many readers parse JSON numbers as doubles: larger integers are written as strings.
constexpr std::uint64_t kLargestSafeInteger = std::uint64_t{1} << 53;

void add_gpu_work(EventLine& line, const GpuWork& work) {
  if (work.start_ns != kNoTime && work.end_ns != kNoTime) line.times(work.start_ns, work.end_ns);
  line.number("gpu", work.gpu);
  line.number("ctx", work.context);
  line.number("stream", work.stream);
  line.number("corr", work.correlation);
  line.nonzero("path", work.path);
  line.nonzero("range", work.range);
  line.nonzero("graph", work.graph);
  if (work.graph_node != 0) line.number("node", node_number(work));
  line.flag("captured", work.captured);
}

template <std::integral T>
void append_payload_integer(std::string& out, T value) {
  const auto wide = static_cast<std::uint64_t>(value);
  const bool quoted = (value < 0 ? 0 - wide : wide) > kLargestSafeInteger;
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  if (quoted) out += '"';
  out.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
  if (quoted) out += '"';
}

void append_payload(std::string& out, const NvtxExtras& extras) {
  const auto low = static_cast<std::uint32_t>(extras.payload);
  switch (extras.payload_type) {
    case PayloadType::i64:
      append_payload_integer(out, std::bit_cast<std::int64_t>(extras.payload));
      break;
    case PayloadType::f64:
      append_json_real(out, std::bit_cast<double>(extras.payload));
      break;
    case PayloadType::u32:
      append_payload_integer(out, low);
      break;
    case PayloadType::i32:
      append_payload_integer(out, std::bit_cast<std::int32_t>(low));
      break;
    case PayloadType::f32:
      append_json_real(out, std::bit_cast<float>(low));
      break;
    default:
      append_payload_integer(out, extras.payload);
      break;
  }
}

void append_hex(std::string& out, std::uint8_t byte, const char* digits) {
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void add_extras(EventLine& line, const NvtxExtras& extras) {
  line.nonzero("category", extras.category);
  if (extras.color != 0) {
    std::string& out = line.open("color");
    out += "\"#";
    for (unsigned shift : {24u, 16u, 8u, 0u}) {
      append_hex(out, static_cast<std::uint8_t>(extras.color >> shift), "0123456789ABCDEF");
    }
    out += '"';
  }
  if (!to_text(extras.payload_type).empty()) {
    append_payload(line.open("payload"), extras);
    line.text("payload_type", to_text(extras.payload_type));
  }
  if (extras.payload_schema == 0) return;  // data without a schema has no meaning
  line.number("payload_schema", extras.payload_schema);
  if (extras.payload_data.empty()) return;
  std::string& out = line.open("payload_data");
  out += '"';
  for (const std::uint8_t byte : extras.payload_data) append_hex(out, byte, "0123456789abcdef");
  out += '"';
}

}  // namespace

void write_line(std::string& out, const KernelRecord& record) {
  const GpuWork& work = record.work;
  HotLine line;
  line.literal(R"({"t":"kernel")");
  if (work.start_ns != kNoTime && work.end_ns != kNoTime) {
    line.number(R"(,"start":)", work.start_ns);
    line.number(R"(,"end":)", work.end_ns);
  }
  line.number(R"(,"gpu":)", work.gpu);
  line.number(R"(,"ctx":)", work.context);
  line.number(R"(,"stream":)", work.stream);
  line.number(R"(,"corr":)", work.correlation);
  line.nonzero(R"(,"path":)", work.path);
  line.nonzero(R"(,"range":)", work.range);
  line.nonzero(R"(,"graph":)", work.graph);
  if (work.graph_node != 0) line.number(R"(,"node":)", node_number(work));
  if (work.captured) line.literal(R"(,"captured":true)");
  line.number(R"(,"name":)", record.name);
  line.number(R"(,"config":)", record.config);
  line.literal("}\n");
  line.append_to(out);
}

void write_line(std::string& out, const MemcpyRecord& record) {
  EventLine line(out, "memcpy");
  add_gpu_work(line, record.work);
  line.text("kind", to_text(record.kind));
  line.text("src", to_text(record.source));
  line.text("dst", to_text(record.destination));
  line.number("bytes", record.bytes);
  line.flag("async", record.async);
  if (record.count > 1) line.number("count", record.count);
  if (record.kind == CopyKind::PtoP) {
    line.number("src_gpu", record.source_gpu);
    line.number("dst_gpu", record.destination_gpu);
  }
  line.end();
}

void write_line(std::string& out, const MemsetRecord& record) {
  EventLine line(out, "memset");
  add_gpu_work(line, record.work);
  line.number("bytes", record.bytes);
  line.nonzero("value", record.value);
  line.text("memory", to_text(record.memory));
  line.end();
}

void write_line(std::string& out, const GraphRecord& record) {
  EventLine line(out, "graph");
  add_gpu_work(line, record.work);
  line.end();
}

void write_line(std::string& out, const LaunchRecord& record) {
  HotLine line;
  line.literal(R"({"t":"launch")");
  line.number(R"(,"start":)", record.host.start_ns);
  line.number(R"(,"end":)", record.host.end_ns);
  line.number(R"(,"thread":)", record.host.thread);
  line.nonzero(R"(,"path":)", record.host.path);
  line.nonzero(R"(,"range":)", record.host.range);
  line.literal(R"(,"api":)");
  line.append_to(out);
  append_json_string(out, record.api);
  line.number(R"(,"corr":)", record.correlation);
  line.nonzero(R"(,"ctx":)", record.context);
  line.nonzero(R"(,"result":)", record.result);
  line.literal("}\n");
  line.append_to(out);
}

void write_line(std::string& out, const SyncRecord& record) {
  EventLine line(out, "sync");
  line.host_work(record.host);
  line.text("api", record.api);
  line.nonzero("ctx", record.context);
  line.nonzero("stream", record.stream);
  line.nonzero_handle("event", record.event);
  line.end();
}

void write_line(std::string& out, const AllocRecord& record) {
  EventLine line(out, record.is_free ? "free" : "alloc");
  line.host_work(record.host);
  line.text("api", record.api);
  line.text("memory", to_text(record.kind));
  line.handle("address", record.address);
  line.nonzero("bytes", record.bytes);
  line.nonzero("ctx", record.context);
  line.nonzero("stream", record.stream);
  line.nonzero_handle("pool", record.pool);
  line.end();
}

void write_line(std::string& out, const EventRecord& record) {
  EventLine line(out, record.wait ? "stream_wait" : "event_record");
  line.host_work(record.host);
  line.handle("event", record.event);
  line.nonzero("stream", record.stream);
  line.nonzero("ctx", record.context);
  line.end();
}

void write_line(std::string& out, const CaptureRecord& record) {
  EventLine line(out, "capture");
  line.host_work(record.host);
  line.text("step", to_text(record.step));
  line.nonzero("stream", record.stream);
  line.nonzero("ctx", record.context);
  line.nonzero_handle("graph", record.graph);
  line.nonzero("result", record.result);
  line.end();
}

void write_line(std::string& out, const OverheadRecord& record) {
  EventLine line(out, "overhead");
  line.times(record.start_ns, record.end_ns);
  line.nonzero("thread", record.thread);
  line.text("what", record.what);
  line.nonzero("corr", record.correlation);
  line.end();
}

void write_line(std::string& out, const RangeRecord& record) {
  EventLine line(out, "range");
  line.number("start", record.start_ns);
  if (record.end_ns == kNoTime) {
    line.null("end");
  } else {
    line.number("end", record.end_ns);
  }
  line.number("id", record.id);
  line.number("thread", record.thread);
  line.nonzero("domain", record.domain);
  if (record.name == 0) {
    line.number("path", record.path);
  } else {
    line.number("name", record.name);
    line.nonzero("path", record.path);
    line.nonzero("end_thread", record.end_thread);
  }
  add_extras(line, record.extras);
  line.end();
}

void write_line(std::string& out, const MarkRecord& record) {
  EventLine line(out, "mark");
  line.number("at", record.at_ns);
  line.number("thread", record.thread);
  line.nonzero("domain", record.domain);
  line.number("name", record.name);
  line.nonzero("path", record.path);
  line.nonzero("range", record.range);
  add_extras(line, record.extras);
  line.end();
}

}  // namespace rangefinder
