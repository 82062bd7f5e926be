// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/loader.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace rangefinder {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

/// A thread more needs a unit more, and a start that takes longer than a small unit.
unsigned useful_jobs(const TraceFolder& files, unsigned jobs) {
  const bool compressed =
      std::any_of(files.segments.begin(), files.segments.end(),
                  [](const SegmentFile& file) { return file.path.extension() == ".zst"; });
  const std::uint64_t units = bytes_of(files) * (compressed ? 8 : 1) / UnitSource::kUnitBytes + 1;
  return static_cast<unsigned>(std::clamp<std::uint64_t>(units, 1, std::max(jobs, 1U)));
}

}  // namespace

Loader::Loader(const TraceFolder& files, RowNames& names, unsigned jobs)
    : files_(files), segments_(files.segments.size()) {
  jobs_ = useful_jobs(files, jobs);
  max_ahead_ = 2 * jobs_ + 1;
  for (std::size_t i = 0; i < jobs_; ++i) workers_.push_back(std::make_unique<Worker>(names));
}

Header Loader::header() {
  Worker& worker = *workers_.front();
  read(segments_.front(), 0, worker);
  has_first_ = true;
  const std::string_view text = worker.unit.text();
  LineReader reader;
  Line line;
  const bool is_line = reader.read(text.substr(0, text.find('\n')), line);
  const auto* const header = is_line ? std::get_if<Header>(&line) : nullptr;
  return header == nullptr ? Header() : *header;
}

void Loader::start(Columns columns) {
  columns_ = columns;
  for (const auto& worker : workers_) worker->parser.load(columns);
  if (has_first_) {
    std::unique_lock lock(mutex_);
    parse_one(lock, *workers_.front());
  }
  for (std::size_t i = 1; i < jobs_; ++i) threads_.emplace_back([this, i] { run(*workers_[i]); });
}

Loader::~Loader() {
  stop();
}

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const auto& worker : workers_) worker->unit = {};
  free_.clear();
  ready_.clear();
}

void Loader::run(Worker& worker) {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!parse_one(lock, worker)) changed_.wait(lock);
  }
}

bool Loader::next(Parsed& out) {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto& [segment, unit] = wanted_;
    while (segment < segments_.size() && segments_[segment].ended && unit == segments_[segment].next_unit) {
      ++segment;
      unit = 0;
    }
    if (segment == segments_.size()) return false;
    const auto found = ready_.find(wanted_);
    if (found == ready_.end()) {
      if (!parse_one(lock, *workers_.front())) changed_.wait(lock);
      continue;
    }
    out = std::move(found->second);
    ready_.erase(found);
    --ahead_;
    ++unit;
    changed_.notify_all();
    if (out.error) std::rethrow_exception(out.error);
    return true;
  }
}

/// The first segment whose next unit may be claimed. Later segments leave room for units of the wanted one.
std::size_t Loader::claim() const {
  for (std::size_t i = wanted_.first; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.ended || segment.reading) continue;
    const bool is_wanted = i == wanted_.first && segment.next_unit == wanted_.second;
    const std::size_t room = i == wanted_.first ? max_ahead_ : max_ahead_ - std::min(max_ahead_, jobs_);
    if (is_wanted || ahead_ < room) return i;
    if (i != wanted_.first) break;  // the later ones have no more room, and may be thousands
  }
  return kNone;
}

bool Loader::parse_one(std::unique_lock<std::mutex>& lock, Worker& worker) {
  const std::size_t index = claim();
  if (index == kNone) return false;
  Segment& segment = segments_[index];
  segment.reading = true;
  const Place place{index, segment.next_unit++};
  ++ahead_;
  lock.unlock();
  Parsed result;
  bool ended = true;
  try {
    read(segment, index, worker);
    ended = worker.unit.last || worker.unit.too_long;
  } catch (...) {
    result.error = std::current_exception();
  }
  lock.lock();
  segment.reading = false;
  segment.ended = ended;
  changed_.notify_all();
  lock.unlock();
  try {
    if (!result.error) {
      result = {empty_chunk(), index, place.second == 0, worker.unit.torn, worker.unit.too_long, {}};
      if (!worker.unit.too_long) worker.parser.parse(worker.unit, *result.chunk);
    }
  } catch (...) {
    result.error = std::current_exception();
  }
  lock.lock();
  ready_.emplace(place, std::move(result));
  changed_.notify_all();
  return true;
}

void Loader::read(Segment& segment, std::size_t index, Worker& worker) {
  if (has_first_) {  // no other thread runs yet
    has_first_ = false;
    return;
  }
  if (!segment.source) segment.source = std::make_unique<UnitSource>(files_.segments[index].path);
  segment.source->next(worker.unit);
  if (worker.unit.last) segment.source.reset();
}

std::unique_ptr<Chunk> Loader::empty_chunk() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<Chunk> chunk = std::move(free_.back());
      free_.pop_back();
      chunk->clear();
      return chunk;
    }
  }
  auto chunk = std::make_unique<Chunk>();
  chunk->load(columns_);
  return chunk;
}

void Loader::give_back(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(chunk));
}

}  // namespace rangefinder
