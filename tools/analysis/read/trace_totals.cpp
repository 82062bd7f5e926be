// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/trace_totals.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tools/analysis/read/line_observer.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/path_names.h"
#include "tools/analysis/read/selection.h"

namespace rangefinder {
namespace {

class TotalsVisitor final : public TraceVisitor {
 public:
  TotalsVisitor(TraceTotals& out, Selection* selection, LineObserver* observer)
      : out_(out), selection_(selection), observer_(observer) {}

  void line(const Line& line, const LinePlace& place) override {
    beginning_.line(line, place);
    out_.after_last_work.line(line);
    const TakenLine taken = selection_ != nullptr ? selection_->take(line) : TakenLine{&line};
    if (taken.line == nullptr) return;
    builders_ = {&out_.totals, out_.in_range && taken.in_range ? &out_.in_range->totals : nullptr};
    if (taken.is_rest) {
      std::visit([this](const auto& record) { take_rest(record); }, *taken.line);
    } else {
      std::visit([this](const auto& record) { take(record); }, *taken.line);
    }
    if (observer_ == nullptr || !(taken.in_range || observer_->takes_all_ranges())) return;
    taken.is_rest ? observer_->rest(*taken.line) : observer_->line(*taken.line);
  }

  void broken(std::string_view error, const LinePlace& place) override {
    beginning_.broken(error, place);
    if (!out_.first_broken.empty()) return;
    out_.first_broken = place.file->string() + ":" + std::to_string(place.number) + ": " + std::string(error);
  }

 private:
  template <typename Other>
  void take(const Other&) {}

  template <typename Record>
  void add(const Record& record) {
    for (TotalsBuilder* const builder : builders_) {
      if (builder != nullptr) builder->add(record);
    }
  }

  template <typename Other>
  void take_rest(const Other&) {}
  void take_rest(const KernelRecord& kernel) { add_rest(kernel); }
  void take_rest(const MemcpyRecord& copy) { add_rest(copy); }
  void take_rest(const GraphRecord& graph) { add_rest(graph); }
  void take_rest(const RangeRecord& range) { add_rest(range); }
  template <typename Record>
  void add_rest(const Record& record) {
    for (TotalsBuilder* const builder : builders_) {
      if (builder != nullptr) builder->add_rest(record);
    }
  }

  void take(const Header& header) {
    if (!std::exchange(has_header_, true)) out_.header = header;
    if (header.counters != "exact") return;
    for (TotalsBuilder* const builder : builders_) {
      if (builder != nullptr) builder->expect_exact_lines();
    }
  }
  void take(const GpuRecord& gpu) {
    const auto same = [&](const GpuRecord& known) { return known.id == gpu.id; };
    if (std::none_of(out_.gpus.begin(), out_.gpus.end(), same)) out_.gpus.push_back(gpu);
  }
  void take(const PathRecord& path) {
    // Every segment repeats the path lines.
    if (!out_.paths.emplace(path.id, path).second) return;
    for (TotalsBuilder* const builder : builders_) {
      if (builder != nullptr) builder->add_path(path);
    }
    if (out_.in_range && selection_->in_range(path.id)) out_.in_range->paths.insert(path.id);
  }
  void take(const DomainRecord& domain) { out_.domains.emplace(domain.id, domain.name); }
  void take(const CategoryRecord& category) {
    if (!categories_.emplace(category.domain, category.id).second) return;
    for (TotalsBuilder* const builder : builders_) {
      if (builder != nullptr) builder->add_category(category);
    }
  }
  void take(const KernelNameRecord& name) { out_.kernel_names.emplace(name.id, name); }
  void take(const KernelRecord& kernel) {
    ++out_.kernels;
    see(kernel.work.end_ns);
    add(kernel);
  }
  void take(const MemcpyRecord& copy) {
    out_.copies += copy.count;
    see(copy.work.end_ns);
    add(copy);
  }
  void take(const MemsetRecord& memset) {
    ++out_.memsets;
    see(memset.work.end_ns);
    add(memset);
  }
  void take(const GraphRecord& graph) {
    see(graph.work.end_ns);
    add(graph);
  }
  void take(const ExactRecord& exact) {
    // Not counted here: its kernel, copy or memset also has its own line.
    see(exact.launch.host.end_ns);
    add(exact);
  }
  void take(const MetricSetRecord& set) { add(set); }
  void take(const SamplesRecord&) { ++out_.samples_lines; }
  void take(const SamplingRecord& sampling) {
    if (sampling.interval_ns != 0) out_.sample_intervals_ns.insert(sampling.interval_ns);
  }
  void take(const RangeRecord& range) {
    ++out_.ranges;
    see(range.end_ns);
    add(range);
  }
  void take(const HoldRecord& hold) {
    add(hold);
    out_.holds.add(hold);
  }
  void take(const GapRecord& gap) {
    out_.holds.add(gap);
    out_.gaps.push_back({gap.start_ns, gap.end_ns, std::string(gap.cause)});
  }
  void take(const FlushRecord& flush) {
    see(flush.at_ns);
    out_.loss = flush.loss;
  }
  void take(const EndRecord& end) {
    see(end.at_ns);
    out_.end = end;
  }

  void see(TimeNs time) { out_.last_ns = std::max(out_.last_ns, time); }

  TraceTotals& out_;
  std::array<TotalsBuilder*, 2> builders_{};  // of the current line; nullptr: not of this one
  Selection* selection_;
  LineObserver* observer_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> categories_;
  TraceBeginning beginning_;
  bool has_header_ = false;
};

}  // namespace

const std::string& TraceTotals::own_name(std::uint32_t path) const {
  return path_name(paths, path);
}

std::vector<PathTotals> TraceTotals::rows() const {
  std::vector<PathTotals> rows = totals.paths();
  if (!in_range) return rows;
  std::erase_if(rows, [this](const PathTotals& row) { return !shows(row.path); });
  rows.emplace_back();
  return rows;
}

bool TraceTotals::shows(std::uint32_t path) const {
  return !in_range || in_range->paths.count(path) != 0;
}

std::uint32_t TraceTotals::parent_of(std::uint32_t path) const {
  return path_parent(paths, path);
}

std::string TraceTotals::path_text(std::uint32_t path) const {
  return rangefinder::path_text(paths, path);
}

TraceTotals load_trace(const TraceFolder& files, Selection* selection, LineObserver* observer) {
  TraceTotals out;
  out.files = files;
  if (files.segments.empty()) {
    throw Missing(files.folder.string() + " holds a summary.json but no trace-*.ndjson\n" +
                  "  A report needs the trace: copy its trace-*.ndjson files next to the summary.");
  }
  if (selection != nullptr && selection->selects_rows()) out.in_range.emplace();
  if (observer != nullptr) observer->begin(files);
  LineReader reader;
  TotalsVisitor visitor(out, selection, observer);
  out.read = read_trace(files, reader, visitor);
  TraceBeginning::end(files, out.read);
  if (out.end) out.loss = out.end->loss;
  return out;
}

}  // namespace rangefinder
