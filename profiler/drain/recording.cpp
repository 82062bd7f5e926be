// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/recording.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "profiler/guest/above_standard_streams.h"
#include "profiler/output/kernel_names.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

struct FileHead {
  char magic[8] = {'R', 'F', 'R', 'E', 'C', 'O', 'R', 'D'};
  std::uint32_t event_log_version = kEventLogVersion;
  std::uint32_t cupti_version = 0;
};

struct ChunkHead {
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};

/// Builds the content of a chunk.
struct Bytes {
  std::vector<std::uint8_t> data;
  void add(const void* from, std::size_t bytes) {
    const auto* const first = static_cast<const std::uint8_t*>(from);
    data.insert(data.end(), first, first + bytes);
  }
  template <typename Value>
  void value(const Value& v) {
    add(&v, sizeof(v));
  }
  void text(std::string_view t) {
    value(static_cast<std::uint32_t>(t.size()));
    add(t.data(), t.size());
  }
};

FILE* open_stream(const std::string& path) {
  const int file = above_standard_streams(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  FILE* const stream = file < 0 ? nullptr : fdopen(file, "wb");
  if (stream == nullptr && file >= 0) close(file);
  return stream;
}

}  // namespace

RecordingWriter::RecordingWriter(const std::string& path, const Recorder& recorder,
                                 const CuptiFunctions* cupti)
    : file_(open_stream(path)), recorder_(recorder), cupti_(cupti), stack_lines_(recorder) {
  if (file_ == nullptr) return;
  descriptor_ = OwnedFile::of(fileno(file_.get()));
  FileHead head;
  if (cupti != nullptr) cupti->GetVersion(&head.cupti_version);
  put(&head, sizeof(head));
}

// After the application closed our descriptor, fclose() or exit would write the stream's buffer into a file
// of the application's.
void RecordingWriter::forget_closed() noexcept {
  if (file_ == nullptr || descriptor_.is_ours()) return;
  __fpurge(file_.get());
  (void)file_.release();
}

void RecordingWriter::put(const void* data, std::size_t bytes) {
  forget_closed();
  if (file_ != nullptr && bytes != 0 && std::fwrite(data, 1, bytes, file_.get()) != bytes) file_.reset();
}

void RecordingWriter::chunk(ChunkKind kind, const void* data, std::size_t bytes) {
  finish_events();
  const ChunkHead head{static_cast<std::uint32_t>(kind), 0, bytes};
  put(&head, sizeof(head));
  put(data, bytes);
}

void RecordingWriter::tables() {
  // Read the sizes of paths and domains before that of names: paths and domains refer to names that were
  // published earlier.
  const std::uint32_t path_count = recorder_.paths.size();
  const std::uint32_t domain_count = recorder_.domain_count();
  const std::uint32_t name_count = recorder_.names.size();
  if (path_count == paths_ && domain_count == domains_ && name_count == names_) return;
  Bytes names, paths, domains;
  while (names_ < name_count) names.text(recorder_.names.text(++names_));
  while (paths_ < path_count) paths.value(recorder_.paths.node(++paths_));
  while (domains_ < domain_count) domains.value(recorder_.domain_name(domains_++));
  if (!names.data.empty()) chunk(ChunkKind::names, names.data.data(), names.data.size());
  if (!domains.data.empty()) chunk(ChunkKind::domains, domains.data.data(), domains.data.size());
  if (!paths.data.empty()) chunk(ChunkKind::paths, paths.data.data(), paths.data.size());
}

void RecordingWriter::event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  tables();
  if (thread != events_thread_) finish_events();
  events_thread_ = thread;
  const auto* const first = reinterpret_cast<const std::byte*>(&event);
  events_.insert(events_.end(), first, first + sizeof(event));
  events_.insert(events_.end(), extra.begin(), extra.end());
  events_.resize(events_.size() + event.extra_slots * sizeof(Event) - extra.size());
}

void RecordingWriter::finish_events() {
  if (events_.empty()) return;
  const std::vector<std::byte> events = std::exchange(events_, {});
  const std::uint32_t head[2] = {events_thread_, static_cast<std::uint32_t>(events.size() / sizeof(Event))};
  const ChunkHead chunk_head{static_cast<std::uint32_t>(ChunkKind::events), 0, sizeof(head) + events.size()};
  put(&chunk_head, sizeof(chunk_head));
  put(head, sizeof(head));
  put(events.data(), events.size());
}

void RecordingWriter::kernel_names(std::uint8_t* data, std::size_t bytes) {
  Bytes names;
  CUpti_Activity* record = nullptr;
  while (cupti_->ActivityGetNextRecord(data, bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const char* const name = reinterpret_cast<const CUpti_ActivityKernel10*>(record)->name;
    if (name == nullptr) continue;
    std::string& known = kernel_names_[name];
    const std::string_view text(name, strnlen(name, NameTable::kMaxReadBytes));
    if (known == text) continue;
    known = text;
    names.value(reinterpret_cast<std::uint64_t>(name));
    names.text(text);
  }
  if (!names.data.empty()) chunk(ChunkKind::kernel_names, names.data.data(), names.data.size());
}

void RecordingWriter::launched(const LaunchedGraph& graph) {
  if (!launched_.insert(graph.id()).second) return;
  tables();
  const NodePaths nodes = graph.flat();
  Bytes bytes;
  bytes.value(LaunchedGraphChunk{graph.id(), graph.executable(), nodes.size(), graph.has_bodies()});
  for (const auto& [first, origin] : nodes.runs())
    bytes.value(NodeRunChunk{first, origin.path, origin.kernel, origin.known, origin.works, origin.range});
  chunk(ChunkKind::launched_graph, bytes.data.data(), bytes.data.size());
}

void RecordingWriter::activity(std::uint8_t* data, std::size_t bytes) {
  if (cupti_ != nullptr) kernel_names(data, bytes);
  chunk(ChunkKind::activity, data, bytes);
}

void RecordingWriter::exact(std::span<const ExactLaunch> launches) {
  tables();
  chunk(ChunkKind::exact, launches.data(), launches.size_bytes());
}

void RecordingWriter::metric_set(const MetricSetRecord& set) {
  std::string line;
  write_line(line, set);
  chunk(ChunkKind::metric_set, line.data(), line.size());
}

void RecordingWriter::samples(const PmRecord& record) {
  std::string line;
  std::visit([&](const auto& one) { write_line(line, one); }, record);
  chunk(ChunkKind::samples, line.data(), line.size());
}

void RecordingWriter::conditions(std::span<const ConditionRecord> records) {
  std::string lines;
  for (const ConditionRecord& record : records) write_line(lines, record);
  chunk(ChunkKind::conditions, lines.data(), lines.size());
}

void RecordingWriter::stacks(std::span<const StackSampleRecord> records) {
  tables();
  std::string lines;
  for (const StackSampleRecord& record : records) {
    for (const StackSample& sample : record.samples)
      stack_lines_.need(sample.stack, [&lines](const auto& line) { write_line(lines, line); });
    write_line(lines, record);
  }
  Bytes bytes;
  bytes.value(StacksChunk{recorder_.loss.get(Loss::stacks_lost), recorder_.loss.get(Loss::stacks_folded)});
  bytes.add(lines.data(), lines.size());
  chunk(ChunkKind::stacks, bytes.data.data(), bytes.data.size());
}

void RecordingWriter::tick(const TickChunk& tick) {
  chunk(ChunkKind::tick, &tick, sizeof(tick));
}

void RecordingWriter::end(const EndFacts& end, std::string_view reason) {
  Bytes bytes;
  bytes.value(end_chunk(end));
  bytes.add(reason.data(), reason.size());
  chunk(ChunkKind::end, bytes.data.data(), bytes.data.size());
  if (file_ != nullptr) std::fflush(file_.get());
}

EndChunk end_chunk(const EndFacts& facts) noexcept {
  EndChunk chunk{facts.now_ns, {}, facts.loss};
  std::memcpy(chunk.own_cost.data(), &facts.own_cost, sizeof(chunk.own_cost));
  return chunk;
}

EndFacts end_facts(const EndChunk& chunk) noexcept {
  EndFacts facts{chunk.now_ns, {}, chunk.loss};
  std::memcpy(static_cast<void*>(&facts.own_cost), chunk.own_cost.data(), sizeof(chunk.own_cost));
  return facts;
}

RecordingReader::RecordingReader(File file, const std::string& name) : file_(std::move(file)) {
  FileHead head;
  const FileHead expected;
  if (std::fread(&head, sizeof(head), 1, file_.get()) != 1 ||
      std::memcmp(head.magic, expected.magic, sizeof(head.magic)) != 0) {
    throw std::runtime_error(name + " is not a recording");
  }
  if (head.event_log_version != kEventLogVersion) {
    throw std::runtime_error(name + " is a recording of version " + std::to_string(head.event_log_version) +
                             ", this program reads version " + std::to_string(kEventLogVersion));
  }
  cupti_version_ = head.cupti_version;
}

bool RecordingReader::next(Chunk& chunk) {
  ChunkHead head;
  if (std::fread(&head, sizeof(head), 1, file_.get()) != 1) return false;
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  if (head.bytes > kMaxBytes) throw std::runtime_error("the recording is damaged: a chunk of over 1 GiB");
  chunk.kind = static_cast<ChunkKind>(head.kind);
  chunk.bytes.resize(head.bytes);
  return head.bytes == 0 || std::fread(chunk.bytes.data(), head.bytes, 1, file_.get()) == 1;
}

}  // namespace rangefinder
