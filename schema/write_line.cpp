// SPDX-License-Identifier: Apache-2.0
//
// Lines of things that happened: the hot ones. Lines that name things, and those
// about the trace itself: write_tables.cpp.
#include "schema/write_line.h"

#include <bit>

#include "schema/json_text.h"
#include "schema/key_names.h"

namespace rangefinder {
namespace {

// JSON numbers are doubles to many readers: integers beyond are written as strings.
constexpr std::uint64_t kLargestSafeInteger = std::uint64_t{1} << 53;

/// An object with its kind, ended by a newline.
class EventLine : public JsonObject {
 public:
  EventLine(std::string& out, std::string_view kind) : JsonObject(out), out_(out) { text("t", kind); }

  void end() {
    close();
    out_ += '\n';
  }
  void times(TimeNs start_ns, TimeNs end_ns) {
    number("start", start_ns);
    number("end", end_ns);
  }
  void dim3(JsonKey key, const Dim3& value) {
    if (value == Dim3{}) return;
    std::string& to = open(key);
    char buffer[40] = {'['};
    char* p = buffer + 1;
    for (const std::uint32_t v : {value.x, value.y, value.z}) {
      p = std::to_chars(p, buffer + sizeof buffer, v).ptr;
      *p++ = ',';
    }
    p[-1] = ']';
    to.append(buffer, static_cast<std::size_t>(p - buffer));
  }

 private:
  std::string& out_;
};

void add_gpu_work(EventLine& line, const GpuWork& work) {
  if (work.start_ns != kNoTime && work.end_ns != kNoTime) line.times(work.start_ns, work.end_ns);
  line.number("gpu", work.gpu);
  line.number("ctx", work.context);
  line.number("stream", work.stream);
  line.number("corr", work.correlation);
  line.nonzero("path", work.path);
  line.nonzero("range", work.range);
  line.nonzero("graph", work.graph);
  line.nonzero("node", work.graph_node);
  line.flag("captured", work.captured);
}

void add_host_work(EventLine& line, const HostWork& host) {
  line.times(host.start_ns, host.end_ns);
  line.number("thread", host.thread);
  line.nonzero("path", host.path);
  line.nonzero("range", host.range);
}

void add_launch(EventLine& line, const LaunchRecord& launch) {
  add_host_work(line, launch.host);
  line.text("api", launch.api);
  line.number("corr", launch.correlation);
  line.nonzero("ctx", launch.context);
  line.nonzero("result", launch.result);
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
  if (extras.payload_schema == 0) return;  // data without a schema mean nothing
  line.number("payload_schema", extras.payload_schema);
  if (extras.payload_data.empty()) return;
  std::string& out = line.open("payload_data");
  out += '"';
  for (const std::uint8_t byte : extras.payload_data) append_hex(out, byte, "0123456789abcdef");
  out += '"';
}

}  // namespace

void write_line(std::string& out, const KernelRecord& record) {
  EventLine line(out, "kernel");
  add_gpu_work(line, record.work);
  line.number("name", record.name);
  line.number("config", record.config);
  line.end();
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

void write_line(std::string& out, const LaunchRecord& record) {
  EventLine line(out, "launch");
  add_launch(line, record);
  line.end();
}

void write_line(std::string& out, const ExactRecord& record) {
  EventLine line(out, "exact");
  add_launch(line, record.launch);
  line.text("kind", to_text(record.kind));
  line.number("gpu", record.gpu);
  line.nonzero("name", record.name);
  line.dim3("grid", record.grid);
  line.dim3("block", record.block);
  line.nonzero("bytes", record.bytes);
  if (record.measured) {
    if (has_gpu_time(record)) line.number("gpu_ns", record.gpu_ns);
    line.number("dram_read_bytes", record.dram_read_bytes);
    line.number("dram_write_bytes", record.dram_write_bytes);
    line.number("l2_bytes", record.l2_bytes);
  } else {
    line.text("unmeasured", record.reason);
  }
  line.end();
}

void write_line(std::string& out, const SyncRecord& record) {
  EventLine line(out, "sync");
  add_host_work(line, record.host);
  line.text("api", record.api);
  line.nonzero("ctx", record.context);
  line.nonzero("stream", record.stream);
  line.nonzero_handle("event", record.event);
  line.end();
}

void write_line(std::string& out, const AllocRecord& record) {
  EventLine line(out, record.is_free ? "free" : "alloc");
  add_host_work(line, record.host);
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
  add_host_work(line, record.host);
  line.handle("event", record.event);
  line.nonzero("stream", record.stream);
  line.nonzero("ctx", record.context);
  line.end();
}

void write_line(std::string& out, const CaptureRecord& record) {
  EventLine line(out, "capture");
  add_host_work(line, record.host);
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
