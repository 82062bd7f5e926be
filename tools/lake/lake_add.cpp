// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/lake_add.h"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEnoughRows = 400'000;
constexpr std::uint64_t kMemoryOfThread = std::uint64_t{384} << 20;

/// A trace that is to be added.
struct Candidate {
  TraceFolder files;
  LakeManifest manifest;
  bool replaces = false;
};

Header read_header(const TraceFolder& files) {
  if (files.segments.empty()) throw Missing(files.folder.string() + " has no trace-*.ndjson");
  if (const std::optional<Header> header = first_header(files.segments.front().path)) return *header;
  throw Missing(files.folder.string() + " does not begin with the header of a trace");
}

/// run=NAME of a folder's path; empty: it has none.
std::string run_of_folder(const fs::path& folder) {
  constexpr std::string_view kRun = "run=";
  for (const fs::path& part : fs::absolute(folder).lexically_normal()) {
    if (part.string().starts_with(kRun)) return part.string().substr(kRun.size());
  }
  return {};
}

Candidate candidate_of(const TraceFolder& files, const LakeAddRequest& request) {
  const Header header = read_header(files);
  std::string run = request.run.empty() ? run_of_folder(files.folder) : request.run;
  if (run.empty()) run = request.default_run;
  static_cast<void>(encoded_run(run));
  Candidate out{files, {}, false};
  out.manifest.key = process_key(run, header);
  out.manifest.rank = header.rank;
  out.manifest.executable = header.executable;
  out.manifest.command = words_text(header.command);
  out.manifest.tool_version = header.tool_version;
  out.manifest.trace = fs::absolute(files.folder).lexically_normal().string();
  out.manifest.trace_bytes = bytes_of(files);
  return out;
}

class Adding {
 public:
  Adding(const LakeAddRequest& request, LakeAddResult& result)
      : request_(request), result_(result), folder_(request.lake, LakeFolder::Use::add) {
    choose();
  }

  void run() {
    const std::size_t count = std::min<std::size_t>(request_.limits.jobs, blocks_.size());
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static const std::string& run_of(const std::vector<Candidate>& block) {
    return block.front().manifest.key.run;
  }

  /// What is not in the lake, in the order of runs and ranks.
  void choose() {
    std::map<std::uint64_t, LakeManifest> known;
    for (LakeManifest& manifest : folder_.manifests()) {
      ranks_[{manifest.key.run, manifest.rank}].insert(manifest.key.number());
      known.emplace(manifest.key.number(), std::move(manifest));
    }
    std::vector<Candidate> todo;
    std::set<std::uint64_t> chosen;
    for (const TraceFolder& files : request_.traces) {
      std::optional<Candidate> one;
      try {
        one = candidate_of(files, request_);
      } catch (const Missing& missing) {
        result_.unreadable.emplace_back(missing.what());
        continue;
      }
      const std::uint64_t number = one->manifest.key.number();
      const auto at = known.find(number);
      one->replaces = at != known.end();
      const bool same = one->replaces && at->second.trace_bytes == one->manifest.trace_bytes;
      if (same || !chosen.insert(number).second) {
        ++result_.known;
        continue;
      }
      ++(one->replaces ? result_.replaced : result_.added);
      ranks_[{one->manifest.key.run, one->manifest.rank}].insert(number);
      todo.push_back(std::move(*one));
    }
    for (const auto& [place, processes] : ranks_) {
      const bool touched = std::any_of(processes.begin(), processes.end(),
                                       [&chosen](std::uint64_t process) { return chosen.contains(process); });
      if (touched && processes.size() > 1 && !place.second.empty())
        result_.clashes.push_back(
            "run " + place.first + " has rank " + place.second + " " + count_text(processes.size()) +
            " times: all are kept, as processes of their own; --run gives another name");
    }
    std::sort(todo.begin(), todo.end(), [](const Candidate& a, const Candidate& b) {
      const auto place = [](const LakeManifest& one) {
        return std::tuple(one.key.run, one.rank.size(), one.rank, one.key.number());
      };
      return place(a.manifest) < place(b.manifest);
    });
    for (auto first = todo.begin(); first != todo.end();) {
      const auto last = std::find_if(first, todo.end(), [&first](const Candidate& one) {
        return one.manifest.key.run != first->manifest.key.run;
      });
      add_blocks({std::make_move_iterator(first), std::make_move_iterator(last)});
      first = last;
    }
  }

  /// Blocks of one run, none much smaller than the others.
  void add_blocks(std::vector<Candidate> run) {
    const std::size_t count = std::max<std::size_t>(1, run.size() / kMinPartProcesses);
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = [&](std::size_t block) {
        return std::make_move_iterator(run.begin() + static_cast<std::ptrdiff_t>(run.size() * block / count));
      };
      blocks_.emplace_back(at(i), at(i + 1));
    }
  }

  void work() {
    try {
      std::size_t block = next_block_++;
      while (block < blocks_.size() && !failed_) block = write_one_part(block);
    } catch (...) {
      failed_ = true;
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  /// Of this block and others while there is room. Returns the block that comes next.
  std::size_t write_one_part(std::size_t block) {
    const fs::path staging = folder_.new_staging();
    std::vector<LakeManifest> done;
    std::uint64_t rows = 0, begun = 0;
    {
      DuckDb db({1, kMemoryOfThread, staging / "spilled"});
      TraceTables tables(db);
      const std::string& run = run_of(blocks_[block]);
      do {
        for (const Candidate& one : blocks_[block]) {
          const std::uint64_t before = tables.rows();
          if (add(one, tables)) done.push_back(one.manifest);
          if (tables.rows() != before) ++begun;
        }
        block = next_block_++;
      } while (block < blocks_.size() && begun + blocks_[block].size() <= kMaxPartProcesses &&
               tables.rows() < kEnoughRows && run_of(blocks_[block]) == run && !failed_);
      rows = tables.rows();
      publish(write_part(db, tables, staging), staging, begun, done);
    }
    fs::remove_all(staging);
    const std::lock_guard lock(mutex_);
    result_.rows += rows;
    return block;
  }

  /// A file for each table with rows. Returns their names.
  static std::vector<std::string> write_part(DuckDb& db, TraceTables& tables, const fs::path& staging) {
    std::vector<std::string> out;
    tables.finish();
    for (std::size_t i = 0; i < lake_tables().size(); ++i) {
      TableRows& rows = tables.rows_of(i);
      if (rows.size() == 0) continue;
      const std::string name(lake_tables()[i].name);
      db.run(copy_sql("SELECT * FROM " + TableRows::source(name), staging / (name + ".parquet")));
      rows.clear();
      out.push_back(name);
    }
    return out;
  }

  bool add(const Candidate& one, TraceTables& tables) {
    try {
      ReadLimits limits = request_.limits;
      limits.jobs = 1;
      tables.add(one.files, one.manifest.key.run, limits);
      return true;
    } catch (const Missing& missing) {
      const std::lock_guard lock(mutex_);
      result_.unreadable.emplace_back(missing.what());
      --(one.replaces ? result_.replaced : result_.added);
    }
    return false;
  }

  void publish(const std::vector<std::string>& tables, const fs::path& staging, std::uint64_t begun,
               std::vector<LakeManifest>& done) {
    if (done.empty()) return;
    const std::string part = new_part_name();
    const std::lock_guard lock(mutex_);
    for (const std::string& table : tables) {
      const fs::path target = folder_.part_file(table, done.front().key.run, part);
      fs::create_directories(target.parent_path());
      const fs::path written = staging / (table + ".parquet");
      result_.bytes += fs::file_size(written);
      fs::rename(written, target);
    }
    for (LakeManifest& manifest : done) {
      manifest.part = part;
      manifest.part_processes = begun;
      manifest.tables = tables;
      manifest.added_unix_s = std::time(nullptr);
      folder_.write(manifest);
    }
  }

  const LakeAddRequest& request_;
  LakeAddResult& result_;
  LakeFolder folder_;
  std::vector<std::vector<Candidate>> blocks_;  // each of one run
  std::map<std::pair<std::string, std::string>, std::set<std::uint64_t>>
      ranks_;  // by run and rank: processes
  std::atomic<std::size_t> next_block_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

}  // namespace

std::string copy_sql(const std::string& rows, const fs::path& file) {
  return "COPY (" + rows + ") TO " + sql_text(file.string()) + " (FORMAT parquet, COMPRESSION zstd)";
}

LakeAddResult add_to_lake(const LakeAddRequest& request) {
  static_cast<void>(load_duckdb());  // before a folder is made
  LakeAddResult result;
  Adding(request, result).run();
  return result;
}

}  // namespace rangefinder
