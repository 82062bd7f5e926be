// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/recording_player.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "schema/read_line.h"

namespace rangefinder {
namespace {

/// Reads values in sequence. Throws if the bytes end early.
class Cursor {
 public:
  explicit Cursor(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  [[nodiscard]] bool done() const noexcept { return at_ == bytes_.size(); }

  template <typename Value>
  [[nodiscard]] Value value() {
    Value out;
    std::memcpy(static_cast<void*>(&out), take(sizeof(Value)), sizeof(Value));
    return out;
  }

  [[nodiscard]] std::string_view text() {
    const auto bytes = value<std::uint32_t>();
    return {reinterpret_cast<const char*>(take(bytes)), bytes};
  }

  [[nodiscard]] const std::uint8_t* take(std::size_t bytes) {
    if (bytes > bytes_.size() - at_)
      throw std::runtime_error("the recording is damaged: a chunk is too short");
    const std::uint8_t* const from = bytes_.data() + at_;
    at_ += bytes;
    return from;
  }

  [[nodiscard]] std::string_view rest() {
    const std::size_t bytes = bytes_.size() - at_;
    return {reinterpret_cast<const char*>(take(bytes)), bytes};
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

/// Losses counted on the application's threads. The replay counts the others again itself.
constexpr Loss kHostLosses[] = {
    Loss::activity_buffers_exhausted,
    Loss::cupti_dropped_records,
    Loss::events_dropped,
    Loss::threads_without_ring,
    Loss::paths_folded,
    Loss::payloads_truncated,
    Loss::nvtx_pop_without_push,
    Loss::nvtx_end_unknown,
    Loss::nvtx_unclosed,
    Loss::nvtx_too_deep,
    Loss::nvtx_open_table_full,
    Loss::exact_unmeasured,
    Loss::samples_lost,
};

template <typename Take>
void for_each_line(std::string_view text, Take take) {
  LineReader reader;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Line line;
    if (!reader.read(text.substr(0, end), line))
      throw std::runtime_error("the recording is damaged: " + reader.error());
    take(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

[[nodiscard]] std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void expect_id(std::uint32_t id, std::uint32_t expected, const char* what) {
  if (id != expected)
    throw std::runtime_error(std::string("the recording is damaged: ") + what + " out of order");
}

}  // namespace

RecordingPlayer::RecordingPlayer(const CuptiFunctions& cupti, const Options& options)
    : cupti_(cupti), options_(options), trace_(recorder_, options, &cupti) {}

void RecordingPlayer::play(RecordingReader& reader, const std::string& folder) {
  RecordingReader::Chunk chunk;
  while (reader.next(chunk)) on_chunk(chunk, folder);
  if (!ended_) throw std::runtime_error("the recording ends before its run did");
}

void RecordingPlayer::on_chunk(RecordingReader::Chunk& chunk, const std::string& folder) {
  if (trace_.folder().empty() && chunk.kind != ChunkKind::about) {
    throw std::runtime_error("the recording is damaged: its first chunk is not `about`");
  }
  switch (chunk.kind) {
    case ChunkKind::about:
      return on_about(chunk.bytes, folder);
    case ChunkKind::names:
      return on_names(chunk.bytes);
    case ChunkKind::paths:
      return on_paths(chunk.bytes);
    case ChunkKind::domains:
      return on_domains(chunk.bytes);
    case ChunkKind::events:
      return on_events(chunk.bytes);
    case ChunkKind::kernel_names:
      return on_kernel_names(chunk.bytes);
    case ChunkKind::activity:
      return on_activity(chunk.bytes);
    case ChunkKind::exact:
      return on_exact(chunk.bytes);
    case ChunkKind::tick:
      return trace_.end_turn(Cursor(chunk.bytes).value<TickChunk>(), {});
    case ChunkKind::end:
      return on_end(chunk.bytes);
    case ChunkKind::samples:
      return on_samples(chunk.bytes);
    case ChunkKind::conditions:
      return for_each_line(text_of(chunk.bytes), [&](Line& line) {
        if (auto* const record = std::get_if<ConditionRecord>(&line)) trace_.on_conditions({record, 1});
      });
    case ChunkKind::stacks:
      return on_stacks(chunk.bytes);
    case ChunkKind::launched_graph:
      return on_launched_graph(chunk.bytes);
    case ChunkKind::metric_set:
      return for_each_line(text_of(chunk.bytes), [&](Line& line) {
        if (auto* const set = std::get_if<MetricSetRecord>(&line)) trace_.builder().on_metric_set(*set);
      });
  }
  throw std::runtime_error("the recording is damaged: a chunk of unknown kind");
}

void RecordingPlayer::on_about(const Bytes& bytes, const std::string& folder) {
  Header header;
  std::vector<GpuRecord> gpus;
  for_each_line(text_of(bytes), [&](Line& line) {
    if (auto* const found = std::get_if<Header>(&line)) header = *found;
    if (auto* const found = std::get_if<GpuRecord>(&line)) gpus.push_back(*found);
  });
  if (!trace_.open(folder, header, gpus)) throw std::runtime_error(trace_.error());
}

void RecordingPlayer::on_names(const Bytes& bytes) {
  for (Cursor cursor(bytes); !cursor.done();) {
    const std::uint32_t expected = recorder_.names.size() + 1;
    expect_id(recorder_.names.intern(cursor.text()), expected, "names");
  }
}

void RecordingPlayer::on_paths(const Bytes& bytes) {
  for (Cursor cursor(bytes); !cursor.done();) {
    const std::uint32_t expected = recorder_.paths.size() + 1;
    expect_id(recorder_.paths.child(cursor.value<PathNode>()), expected, "paths");
  }
}

void RecordingPlayer::on_domains(const Bytes& bytes) {
  for (Cursor cursor(bytes); !cursor.done();) {
    const std::uint32_t expected = recorder_.domain_count();
    expect_id(recorder_.add_domain(cursor.value<std::uint32_t>()), expected, "domains");
  }
}

void RecordingPlayer::on_events(const Bytes& bytes) {
  Cursor cursor(bytes);
  const auto thread = cursor.value<std::uint32_t>();
  (void)cursor.value<std::uint32_t>();  // number of slots, which follows from the chunk's length
  while (!cursor.done()) {
    const auto event = cursor.value<Event>();
    const std::uint8_t* const extra = cursor.take(event.extra_slots * sizeof(Event));
    if (event.extra_bytes > event.extra_slots * sizeof(Event))
      throw std::runtime_error("the recording is damaged");
    trace_.builder().on_event(thread, event, {reinterpret_cast<const std::byte*>(extra), event.extra_bytes});
  }
}

void RecordingPlayer::on_launched_graph(const Bytes& bytes) {
  Cursor cursor(bytes);
  const auto head = cursor.value<LaunchedGraphChunk>();
  constexpr std::uint32_t kMaxNodes = 1U << 24;
  if (head.nodes > kMaxNodes) throw std::runtime_error("the recording is damaged: a graph of too many nodes");
  const auto nodes = std::make_shared<GraphNodes>();
  NodeOrigin origin;
  for (std::uint32_t number = 0; !cursor.done();) {
    const auto run = cursor.value<NodeRunChunk>();
    for (; number < std::min(run.first, head.nodes); ++number) nodes->paths.set(number, origin);
    origin = {run.path, run.kernel, run.range, run.known != 0, run.works != 0};
    if (cursor.done()) {
      for (; number < head.nodes; ++number) nodes->paths.set(number, origin);
    }
  }
  recorder_.graphs.add(std::make_shared<const LaunchedGraph>(head.id, head.executable, nodes, nullptr,
                                                             nullptr, nullptr, head.has_bodies != 0));
}

void RecordingPlayer::on_kernel_names(const Bytes& bytes) {
  for (Cursor cursor(bytes); !cursor.done();) {
    const auto pointer = cursor.value<std::uint64_t>();
    kernel_names_[pointer] = kernel_texts_.emplace_back(cursor.text()).c_str();
  }
}

void RecordingPlayer::on_activity(Bytes& bytes) {
  CUpti_Activity* record = nullptr;
  while (cupti_.ActivityGetNextRecord(bytes.data(), bytes.size(), &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      auto* const kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
      const auto at = kernel_names_.find(reinterpret_cast<std::uint64_t>(kernel->name));
      kernel->name = at == kernel_names_.end() ? nullptr : at->second;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_OVERHEAD) {
      reinterpret_cast<CUpti_ActivityOverhead3*>(record)->overheadData =
          nullptr;  // pointed into the recorded process
    }
  }
  TraceBuilder& builder = trace_.builder();
  builder.on_decoded(decode_activity(cupti_, bytes.data(), bytes.size(), builder));
}

void RecordingPlayer::on_exact(const Bytes& bytes) {
  for (Cursor cursor(bytes); !cursor.done();) {
    const auto launch = cursor.value<ExactLaunch>();
    trace_.builder().on_exact({&launch, 1});
  }
}

void RecordingPlayer::on_samples(const Bytes& bytes) {
  for_each_line(text_of(bytes), [this](Line& line) {
    if (auto* const found = std::get_if<SamplesRecord>(&line)) trace_.builder().on_samples(std::move(*found));
    if (auto* const found = std::get_if<SamplingRecord>(&line))
      trace_.builder().on_samples(std::move(*found));
  });
}

void RecordingPlayer::on_stacks(const Bytes& bytes) {
  Cursor cursor(bytes);
  const auto losses = cursor.value<StacksChunk>();
  recorder_.loss.set(Loss::stacks_lost, losses.lost);
  recorder_.loss.set(Loss::stacks_folded, losses.folded);
  const auto name = [this](const std::string& text) {
    return text.empty() ? 0 : recorder_.names.intern(text);
  };
  for_each_line(cursor.rest(), [&](Line& line) {
    if (const auto* const frame = std::get_if<FrameRecord>(&line))
      frames_[frame->id] = recorder_.stacks.frame({name(frame->function), name(frame->file), frame->line});
    if (const auto* const stack = std::get_if<StackRecord>(&line))
      stacks_[stack->id] = recorder_.stacks.stack({stacks_[stack->caller], frames_[stack->frame]});
    if (auto* const found = std::get_if<StackSampleRecord>(&line)) {
      for (StackSample& sample : found->samples) sample.stack = stacks_[sample.stack];
      trace_.on_stacks({found, 1});
    }
  });
}

void RecordingPlayer::on_end(const Bytes& bytes) {
  Cursor cursor(bytes);
  const EndFacts end = end_facts(cursor.value<EndChunk>());
  for (const Loss cause : kHostLosses) recorder_.loss.set(cause, end.loss[static_cast<std::size_t>(cause)]);
  trace_.finish(end, std::string(cursor.rest()));
  ended_ = true;
}

}  // namespace rangefinder
