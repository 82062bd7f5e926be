// SPDX-License-Identifier: Apache-2.0
#include "schema/read_line.h"

#include "schema/line_keys.h"
#include "schema/read_plain.h"
#include "schema/read_records.h"

namespace rangefinder {
namespace {

template <typename Record>
void read_as(const LineKeys& keys, Line& line) {
  read_record(keys, line.emplace<Record>());
}

template <bool kIsFree>
void read_alloc(const LineKeys& keys, Line& line) {
  auto& record = line.emplace<AllocRecord>();
  record.is_free = kIsFree;
  read_record(keys, record);
}

template <bool kWait>
void read_event(const LineKeys& keys, Line& line) {
  auto& record = line.emplace<EventRecord>();
  record.wait = kWait;
  read_record(keys, record);
}

struct KindReader {
  std::string_view kind;
  void (*read)(const LineKeys& keys, Line& line);
};

// The most frequent kinds first.
constexpr std::array kReaders{
    KindReader{"kernel", read_as<KernelRecord>},
    KindReader{"launch", read_as<LaunchRecord>},
    KindReader{"range", read_as<RangeRecord>},
    KindReader{"exact", read_as<ExactRecord>},
    KindReader{"memcpy", read_as<MemcpyRecord>},
    KindReader{"samples", read_as<SamplesRecord>},
    KindReader{"memset", read_as<MemsetRecord>},
    KindReader{"graph", read_as<GraphRecord>},
    KindReader{"sync", read_as<SyncRecord>},
    KindReader{"alloc", read_alloc<false>},
    KindReader{"free", read_alloc<true>},
    KindReader{"event_record", read_event<false>},
    KindReader{"stream_wait", read_event<true>},
    KindReader{"overhead", read_as<OverheadRecord>},
    KindReader{"mark", read_as<MarkRecord>},
    KindReader{"path", read_as<PathRecord>},
    KindReader{"name", read_as<NameRecord>},
    KindReader{"kernel_name", read_as<KernelNameRecord>},
    KindReader{"config", read_as<LaunchConfigRecord>},
    KindReader{"capture", read_as<CaptureRecord>},
    KindReader{"sampling", read_as<SamplingRecord>},
    KindReader{"monitor", read_as<MonitorRecord>},
    KindReader{"clock", read_as<ClockRecord>},
    KindReader{"flush", read_as<FlushRecord>},
    KindReader{"header", read_as<Header>},
    KindReader{"gpu", read_as<GpuRecord>},
    KindReader{"context", read_as<ContextRecord>},
    KindReader{"stream", read_as<StreamRecord>},
    KindReader{"thread", read_as<ThreadRecord>},
    KindReader{"domain", read_as<DomainRecord>},
    KindReader{"category", read_as<CategoryRecord>},
    KindReader{"payload_schema", read_as<PayloadSchemaRecord>},
    KindReader{"metric_set", read_as<MetricSetRecord>},
    KindReader{"end", read_as<EndRecord>},
};

struct KindOf {
  std::string_view operator()(const UnknownLine& line) const { return line.kind; }
  std::string_view operator()(const Header&) const { return "header"; }
  std::string_view operator()(const GpuRecord&) const { return "gpu"; }
  std::string_view operator()(const ContextRecord&) const { return "context"; }
  std::string_view operator()(const StreamRecord&) const { return "stream"; }
  std::string_view operator()(const ThreadRecord&) const { return "thread"; }
  std::string_view operator()(const DomainRecord&) const { return "domain"; }
  std::string_view operator()(const CategoryRecord&) const { return "category"; }
  std::string_view operator()(const NameRecord&) const { return "name"; }
  std::string_view operator()(const PathRecord&) const { return "path"; }
  std::string_view operator()(const KernelNameRecord&) const { return "kernel_name"; }
  std::string_view operator()(const LaunchConfigRecord&) const { return "config"; }
  std::string_view operator()(const KernelRecord&) const { return "kernel"; }
  std::string_view operator()(const MemcpyRecord&) const { return "memcpy"; }
  std::string_view operator()(const MemsetRecord&) const { return "memset"; }
  std::string_view operator()(const GraphRecord&) const { return "graph"; }
  std::string_view operator()(const LaunchRecord&) const { return "launch"; }
  std::string_view operator()(const ExactRecord&) const { return "exact"; }
  std::string_view operator()(const SamplesRecord&) const { return "samples"; }
  std::string_view operator()(const SamplingRecord&) const { return "sampling"; }
  std::string_view operator()(const MonitorRecord&) const { return "monitor"; }
  std::string_view operator()(const SyncRecord&) const { return "sync"; }
  std::string_view operator()(const AllocRecord& alloc) const { return alloc.is_free ? "free" : "alloc"; }
  std::string_view operator()(const EventRecord& event) const {
    return event.wait ? "stream_wait" : "event_record";
  }
  std::string_view operator()(const CaptureRecord&) const { return "capture"; }
  std::string_view operator()(const OverheadRecord&) const { return "overhead"; }
  std::string_view operator()(const RangeRecord&) const { return "range"; }
  std::string_view operator()(const MarkRecord&) const { return "mark"; }
  std::string_view operator()(const PayloadSchemaRecord&) const { return "payload_schema"; }
  std::string_view operator()(const MetricSetRecord&) const { return "metric_set"; }
  std::string_view operator()(const ClockRecord&) const { return "clock"; }
  std::string_view operator()(const FlushRecord&) const { return "flush"; }
  std::string_view operator()(const EndRecord&) const { return "end"; }
};

// The original text of the definition: a parsed tree does not keep the form of its numbers.
std::string raw_definition(std::string_view text) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  std::string_view raw;
  if (parser.iterate(padded).get(document) ||
      document.find_field_unordered("definition").get_object().get(object) || object.raw_json().get(raw)) {
    throw LineError{"payload_schema: key \"definition\" cannot be read"};
  }
  return std::string(
      raw.substr(0, raw.find_last_of('}') + 1));  // raw_json() includes text up to the next token
}

}  // namespace

struct LineReader::Impl {
  simdjson::dom::parser parser;
  TextPool pool;
  std::string error;

  void read(std::string_view text, Line& line);
};

void LineReader::Impl::read(std::string_view text, Line& line) {
  if (read_plain(text, pool, line)) return;
  simdjson::dom::element root;
  if (const auto code = parser.parse(text.data(), text.size()).get(root); code) {
    throw LineError{std::string("the line is not JSON: ") + simdjson::error_message(code)};
  }
  simdjson::dom::object object;
  if (root.get(object)) throw LineError{"the line is not a JSON object"};
  std::string_view kind;
  const LineKeys unnamed("line", object, pool);
  unnamed.need("t", kind);

  for (const KindReader& reader : kReaders) {
    if (reader.kind != kind) continue;
    reader.read(LineKeys(kind, object, pool), line);
    if (auto* const schema = std::get_if<PayloadSchemaRecord>(&line)) {
      schema->definition = raw_definition(text);
    }
    return;
  }
  line.emplace<UnknownLine>().kind = kind;
}

LineReader::LineReader() : impl_(std::make_unique<Impl>()) {}
LineReader::~LineReader() = default;

bool LineReader::read(std::string_view text, Line& line) {
  try {
    impl_->error.clear();
    impl_->read(text, line);
    return true;
  } catch (const LineError& error) {
    impl_->error = error.text;
    return false;
  }
}

const std::string& LineReader::error() const noexcept {
  return impl_->error;
}

std::string_view line_kind(const Line& line) noexcept {
  return std::visit(KindOf{}, line);
}

}  // namespace rangefinder
