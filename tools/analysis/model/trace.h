// SPDX-License-Identifier: Apache-2.0
//
// A trace in memory: its names, and the columns that queries declared, in chunks.
//
//   Trace trace(files, {.columns = kColumns});
//   trace.each_chunk([&](const Chunk& chunk) { … });     reads the files; later calls use those in memory
//   trace.names().path_text(7)                           complete after the first call
//
// Without `keep`, or where the columns need more than `memory_bytes`, chunks are dropped once they were
// passed, and the next each_chunk() reads the files again. Within a call, names() has those of the chunks so
// far, as in the files. Throws Missing for files that are no trace. One thread calls; reading uses more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tools/analysis/model/chunk.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/shown_paths.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {

class Loader;

/// How traces are read: --jobs and --memory.
struct ReadLimits {
  unsigned jobs = 2;
  std::uint64_t memory_bytes = default_memory_bytes();
  /// Half of the machine's.
  [[nodiscard]] static std::uint64_t default_memory_bytes();
};

/// Whether chunks stay in memory. If bytes were sampled, by us or by NVML, they are read at least twice.
enum class Keep : std::uint8_t { no, if_sampled, yes };

struct TraceOptions {
  Columns columns;
  Columns if_sampled = {};     ///< as well, if bytes were sampled
  Columns while_reading = {};  ///< as well, but only while the files are read
  Keep keep = Keep::yes;
  ReadLimits limits = {};
};

class Trace {
 public:
  Trace(TraceFolder files, const TraceOptions& options);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Passes each chunk, in the order of the files.
  void each_chunk(const std::function<void(const Chunk&)>& see);
  /// Passes each chunk before each_chunk() does, when the files are read for the first time. Call it before
  /// that.
  void on_reading(std::function<void(const Chunk&)> see) { on_reading_ = std::move(see); }
  [[nodiscard]] const TraceNames& names() const noexcept { return names_; }
  [[nodiscard]] const TraceFolder& files() const noexcept { return names_.files; }
  /// Of the chunks in memory.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
  /// Threads that a query may use.
  [[nodiscard]] unsigned jobs() const noexcept { return options_.limits.jobs; }

 private:
  void read(const std::function<void(const Chunk&)>& see);
  void merge(Chunk& chunk, const SegmentFile& segment);
  void keep(Chunk& chunk);
  void set_sampled();
  void drop_chunks();
  void check_memory() const;
  [[nodiscard]] bool keeps() const noexcept { return options_.keep == Keep::yes; }

  TraceNames names_;
  TraceOptions options_;
  ShownPaths shown_;
  RowNames row_names_;
  std::function<void(const Chunk&)> on_reading_;
  std::vector<Chunk> chunks_;
  ColumnMemory memory_;             // of chunks_
  std::unique_ptr<Loader> loader_;  // kept: texts of chunks are its
  std::uint64_t memory_bytes_ = 0;
  bool complete_ = false;  // the names are
  bool sampled_ = false;   // the columns include `if_sampled`
  bool samples_ = false;   // there are some

  // While the files are read:
  std::unique_ptr<ReadLedger> ledger_;
  TraceBeginning beginning_;
  PathDepths depths_;
  std::uint64_t lines_ = 0;  // of this segment, before the chunk
};

}  // namespace rangefinder
