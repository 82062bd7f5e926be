// SPDX-License-Identifier: Apache-2.0
//
// Reads and parses the units of a trace on several threads, and delivers their chunks in the order of the
// files.
//
//   header() ─▶ what to load ─▶ start() ─▶ next(), next(), …
//
//   thread 0 (the caller) ─ next() ─┬─ the next chunk is ready: return it
//   thread 1, …                     └─ else claim a unit, read and parse it: its chunk is ready
//
// The text of a segment is read by one thread at a time, in order, because a compressed one cannot be
// divided. Different segments, and parsing, are parallel. The number of chunks ahead of the caller is
// bounded, and the unit that it waits for can always be claimed, so no thread waits forever.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tools/analysis/model/chunk.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/model/unit_parser.h"
#include "tools/analysis/model/unit_source.h"

namespace rangefinder {

class Loader {
 public:
  /// `files` and `names` must outlive this.
  Loader(const TraceFolder& files, RowNames& names, unsigned jobs);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// That of the first line, or an empty one. Throws as next() does.
  [[nodiscard]] Header header();
  void start(Columns columns);

  struct Parsed {
    std::unique_ptr<Chunk> chunk;
    std::size_t segment = 0;  ///< index in TraceFolder::segments
    bool first = false;       ///< of its segment
    bool torn = false, too_long = false;
    std::exception_ptr error;  ///< next() throws it
  };
  /// False: there is no more. Throws what reading threw.
  [[nodiscard]] bool next(Parsed& out);
  /// Returns a chunk that is no longer needed: its memory is used again.
  void give_back(std::unique_ptr<Chunk> chunk);
  /// Ends the threads and frees what is needed to read. Texts of chunks stay.
  void stop();

 private:
  struct Segment {
    std::unique_ptr<UnitSource> source;
    std::size_t next_unit = 0;  // to claim
    bool reading = false;
    bool ended = false;  // next_unit is their number
  };
  struct Worker {
    explicit Worker(RowNames& names) : parser(names) {}
    UnitParser parser;
    UnitText unit;
  };
  using Place = std::pair<std::size_t, std::size_t>;  // segment, unit

  /// Claims a unit and makes it ready. False: there is none to claim now.
  bool parse_one(std::unique_lock<std::mutex>& lock, Worker& worker);
  [[nodiscard]] std::size_t claim() const;
  void read(Segment& segment, std::size_t index, Worker& worker);
  [[nodiscard]] std::unique_ptr<Chunk> empty_chunk();
  void run(Worker& worker);

  const TraceFolder& files_;
  Columns columns_;
  bool has_first_ = false;  // the text of the first unit is in the first worker
  std::size_t max_ahead_, jobs_;
  std::vector<std::unique_ptr<Worker>> workers_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Segment> segments_;  // guarded by mutex_; a source is used by the thread that set `reading`
  std::map<Place, Parsed> ready_;  // guarded by mutex_
  std::vector<std::unique_ptr<Chunk>> free_;  // guarded by mutex_
  Place wanted_{0, 0};                        // guarded by mutex_
  std::size_t ahead_ = 0;                     // claimed or ready; guarded by mutex_
  bool stop_ = false;                         // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace rangefinder
