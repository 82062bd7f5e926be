// SPDX-License-Identifier: Apache-2.0
//
// A recorded run: all input of the drain thread, in order. Replay feeds it to a TraceBuilder again,
// on any machine. Tests, and the demo without a GPU, run on real data only in this way
// (tests/replay/README.md).
//
//   file = magic, then chunks { u32 kind, u32 reserved, u64 bytes, bytes }
//
// CUPTI's records hold pointers to kernel names. Before a buffer, the file holds the texts
// of the pointers that are new in it. The player replaces the pointers in the buffer by
// pointers to those texts, and passes it to CUPTI's own iterator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/counters/exact/exact_launch.h"
#include "profiler/counters/sampling/sample_queue.h"
#include "profiler/cupti/functions.h"
#include "profiler/events/recorder.h"
#include "profiler/guest/owned_file.h"
#include "profiler/output/stack_lines.h"

namespace rangefinder {

enum class ChunkKind : std::uint32_t {
  about = 1,            // text: header line, then gpu lines, as in a trace
  names = 2,            // { u32 bytes, text } of every NameTable id that is new, in order
  paths = 3,            // PathNode of every path id that is new, in order
  domains = 4,          // u32 name id of every domain that is new, in order
  events = 5,           // u32 thread, u32 slots, then the slots as in the ring
  kernel_names = 6,     // { u64 pointer, u32 bytes, text }
  activity = 7,         // a buffer of CUPTI
  exact = 8,            // ExactLaunch, one or more
  tick = 9,             // TickChunk: one turn of the drain thread ends
  end = 10,             // EndChunk, text of the reason
  samples = 11,         // text: samples and sampling lines, their times absolute
  metric_set = 12,      // text: metric_set lines, before the first ExactLaunch that was measured with one
  launched_graph = 13,  // LaunchedGraphChunk, then NodeRunChunk: before the first launch that names it
  conditions = 14,      // text: condition lines, their times absolute
  stacks = 15,          // StacksChunk, text: frame, stack and stack_sample lines, their times absolute
};

struct LaunchedGraphChunk {
  std::uint64_t id = 0;
  std::uint32_t executable = 0;
  std::uint32_t nodes = 0;
  std::uint64_t has_bodies = 0;
};
/// NodePaths::Run without padding.
struct NodeRunChunk {
  std::uint32_t first = 0, path = 0, kernel = 0;
  std::uint16_t known = 0, works = 0;
  std::uint64_t range = 0;
};

/// Losses so far, which a replay cannot count again.
struct StacksChunk {
  std::uint64_t lost = 0, folded = 0;
};

struct TickChunk {
  std::int64_t now_ns = 0;  ///< CLOCK_REALTIME, absolute
  std::int64_t monotonic_ns = 0;
};

/// Causes up to record_sink_errors. The drain counts the others itself, in a replay too.
inline constexpr std::size_t kRecordedLosses = static_cast<std::size_t>(Loss::record_sink_errors) + 1;

/// The first members of OwnCost, which recordings hold. The others depend on the recording machine, not on
/// the trace.
inline constexpr std::size_t kRecordedCosts = 11;

struct EndChunk {
  std::int64_t now_ns = 0;
  std::array<std::uint64_t, kRecordedCosts> own_cost{};
  std::array<std::uint64_t, kRecordedLosses> loss{};
};
static_assert(sizeof(EndChunk) == 8 + 11 * 8 + 23 * 8);  // as in the recordings of tests/replay

static_assert(offsetof(OwnCost, drain_longest_ns) == kRecordedCosts * sizeof(std::uint64_t));

/// How a trace ends.
struct EndFacts {
  std::int64_t now_ns = 0;
  OwnCost own_cost;
  std::array<std::uint64_t, kRecordedLosses> loss{};
};
[[nodiscard]] EndChunk end_chunk(const EndFacts& facts) noexcept;
[[nodiscard]] EndFacts end_facts(const EndChunk& chunk) noexcept;

/// Writes a recording. Drain thread only. Stops silently at the first write error: a recording is for
/// developers, who check ok().
class RecordingWriter {
 public:
  /// `cupti`: nullptr without CUPTI.
  RecordingWriter(const std::string& path, const Recorder& recorder, const CuptiFunctions* cupti);
  ~RecordingWriter() { forget_closed(); }
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  [[nodiscard]] bool ok() const noexcept { return file_ != nullptr; }
  void about(std::string_view lines) { chunk(ChunkKind::about, lines.data(), lines.size()); }
  /// One event with the bytes of its extra slots. Events are collected until another chunk follows.
  void event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra);
  /// Before the event of its launch. Writes each graph once.
  void launched(const LaunchedGraph& graph);
  void activity(std::uint8_t* data, std::size_t bytes);
  void exact(std::span<const ExactLaunch> launches);
  void metric_set(const MetricSetRecord& set);
  void samples(const PmRecord& record);
  void conditions(std::span<const ConditionRecord> records);
  void stacks(std::span<const StackSampleRecord> records);
  void tick(const TickChunk& tick);
  void end(const EndFacts& end, std::string_view reason);

 private:
  void chunk(ChunkKind kind, const void* data, std::size_t bytes);
  void put(const void* data, std::size_t bytes);
  void forget_closed() noexcept;
  void tables();  // writes new names, paths and domains; call before a chunk that refers to them
  void finish_events();
  void kernel_names(std::uint8_t* data, std::size_t bytes);

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  OwnedFile descriptor_;  // of file_
  const Recorder& recorder_;
  const CuptiFunctions* const cupti_;
  std::uint32_t names_ = kOtherName, paths_ = kOtherPath,
                domains_ = 1;  // the file has all entries up to these; the initial ones always exist
  StackLines stack_lines_;
  std::uint32_t events_thread_ = 0;
  std::vector<std::byte> events_;
  std::unordered_map<const char*, std::string> kernel_names_;
  std::unordered_set<std::uint64_t> launched_;  // ids of graphs that the file has
};

/// Reads the chunks of a recording, in order. Throws std::runtime_error if the file is not a recording,
/// or has another version of the event log.
class RecordingReader {
 public:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  /// `file`: open for reading, not nullptr. `name`: for messages.
  RecordingReader(File file, const std::string& name);

  struct Chunk {
    ChunkKind kind;
    std::vector<std::uint8_t> bytes;
  };
  /// False: end of the file.
  [[nodiscard]] bool next(Chunk& chunk);

  /// The cuptiGetVersion of the recording machine; records have that version's layout.
  [[nodiscard]] std::uint32_t cupti_version() const noexcept { return cupti_version_; }

 private:
  File file_;
  std::uint32_t cupti_version_ = 0;
};

}  // namespace rangefinder
