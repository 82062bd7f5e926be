// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class StructureCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void segment(const std::filesystem::path& file) override {
    has_number_ = segment_number(file, file_number_);
    begun_ = false;
    has_header_ = false;
  }

  void line(const Line& line) override {
    const bool is_header = std::holds_alternative<Header>(line);
    if (!std::exchange(begun_, true) && !is_header) {
      problems_.add("header", "the segment does not begin with a header but with a \"" +
                                  std::string(line_kind(line)) + "\" line");
    }
    if (is_header && std::exchange(has_header_, true)) ++second_headers_;
    if (ended_) problems_.add("end", "a line after the end line");
    if (const auto* header = std::get_if<Header>(&line)) check(*header);
    if (const auto* flush = std::get_if<FlushRecord>(&line)) check(*flush);
    ended_ = ended_ || std::holds_alternative<EndRecord>(line);
  }

  void finish(const TraceFacts& facts) override {
    // After a failed write the writer repeats the header and all names in the same file.
    if (second_headers_ != 0 && !facts.lines_lost()) {
      problems_.add_at(facts.folder, "header",
                       std::to_string(second_headers_) + " headers in the middle of a segment");
    }
  }

 private:
  void check(const Header& header) {
    if (has_number_ && header.segment != file_number_) {
      problems_.add("segment", "the header has segment " + std::to_string(header.segment) +
                                   ", the file name " + std::to_string(file_number_));
    }
    if (!first_) {
      first_ = header;
    } else {
      compare(header);
    }
  }

  void compare(const Header& header) const {
    if (header.pid != first_->pid || header.host != first_->host) {
      problems_.add("header", "this segment is from process " + std::to_string(header.pid) + " on " +
                                  header.host + ", the first is from " + std::to_string(first_->pid) +
                                  " on " + first_->host);
    }
    if (header.base_unix_ns != first_->base_unix_ns ||
        header.base_monotonic_ns != first_->base_monotonic_ns) {
      problems_.add("header", "the base of the clocks differs from that of the first segment");
    }
  }

  void check(const FlushRecord& flush) {
    if (last_flush_) {
      if (flush.at_ns < last_flush_->at_ns)
        problems_.add("flush", "a heartbeat is older than the previous one");
      if (flush.records < last_flush_->records) {
        problems_.add("flush", "records decreased from " + std::to_string(last_flush_->records) + " to " +
                                   std::to_string(flush.records));
      }
      for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
        if (flush.loss[i] < last_flush_->loss[i]) {
          problems_.add("flush", std::string("the loss ") + kLossCauses[i].name + " decreased");
        }
      }
    }
    last_flush_ = flush;
  }

  bool has_number_ = false;  ///< the file has the name of a segment
  std::uint32_t file_number_ = 0;
  std::uint64_t second_headers_ = 0;
  bool begun_ = false;       ///< the segment has a line
  bool has_header_ = false;  ///< the segment has a header
  bool ended_ = false;
  std::optional<Header> first_;
  std::optional<FlushRecord> last_flush_;
};

class TimeCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const LineTimes times = times_of(line);
    if (times.reversed()) {
      problems_.add("time", "ends at " + std::to_string(times.end_ns) + " ns, before its start at " +
                                std::to_string(times.start_ns) + " ns");
    }
    if (gpu_work(line) == nullptr) return;
    const bool has_start = times.start_ns != kNoTime, has_end = times.end_ns != kNoTime;
    if (has_start != has_end) problems_.add("time", "has only one of start and end");
    if (!has_start && !has_end) ++untimed_;
  }

  void finish(const TraceFacts& facts) override {
    if (facts.whole && facts.is_final && untimed_ > facts.lost(Loss::gpu_work_untimed)) {
      problems_.add_at(facts.folder, "untimed",
                       std::to_string(untimed_) + " pieces of GPU work have no times, the ledger counts " +
                           std::to_string(facts.lost(Loss::gpu_work_untimed)));
    }
  }

 private:
  std::uint64_t untimed_ = 0;
};

}  // namespace

std::unique_ptr<TraceCheck> make_structure_check(ProblemLog& problems) {
  return std::make_unique<StructureCheck>(problems);
}

std::unique_ptr<TraceCheck> make_time_check(ProblemLog& problems) {
  return std::make_unique<TimeCheck>(problems);
}

}  // namespace rangefinder
