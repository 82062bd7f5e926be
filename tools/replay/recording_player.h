// SPDX-License-Identifier: Apache-2.0
//
// Plays a recorded run into the real drain, which writes the trace again.
//
//   recording ─▶ names, paths ─▶ its own Recorder ─┐
//             ─▶ events, exact, activity ──────────┴▶ TraceBuilder ─▶ trace-*.ndjson, summary.json
//
// Sets the pointers to kernel names in each buffer to texts owned by the player, then uses libcupti's record
// iterator. Needs libcupti, but no driver and no GPU.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/cupti/loader.h"
#include "profiler/drain/recording.h"
#include "profiler/drain/trace_files.h"

namespace rangefinder {

class RecordingPlayer {
 public:
  RecordingPlayer(const CuptiFunctions& cupti, const Options& options);

  /// Plays all of `reader` into `folder`. Throws std::runtime_error.
  void play(RecordingReader& reader, const std::string& folder);

 private:
  using Bytes = std::vector<std::uint8_t>;
  void on_chunk(RecordingReader::Chunk& chunk, const std::string& folder);
  void on_about(const Bytes& bytes, const std::string& folder);
  void on_names(const Bytes& bytes);
  void on_paths(const Bytes& bytes);
  void on_domains(const Bytes& bytes);
  void on_events(const Bytes& bytes);
  void on_launched_graph(const Bytes& bytes);
  void on_kernel_names(const Bytes& bytes);
  void on_activity(Bytes& bytes);
  void on_exact(const Bytes& bytes);
  void on_samples(const Bytes& bytes);
  void on_stacks(const Bytes& bytes);
  void on_end(const Bytes& bytes);

  const CuptiFunctions& cupti_;
  const Options& options_;
  Recorder recorder_;
  TraceFiles trace_;
  std::deque<std::string> kernel_texts_;                              // a deque: records point to the texts
  std::unordered_map<std::uint64_t, const char*> kernel_names_;       // by the recorded pointer
  std::unordered_map<std::uint32_t, std::uint32_t> frames_, stacks_;  // ids of the recorded process ─▶ ours
  bool ended_ = false;
};

}  // namespace rangefinder
