// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_work.h"

#include <algorithm>
#include <unordered_set>

#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/selected_rows.h"

namespace rangefinder {
namespace {

/// Places of a path's iterations, over all paths and costs: 64 MB.
constexpr std::size_t kMaxPlaces = std::size_t{16} << 20;

/// Shorter launches are too many to keep, and few samples are in them.
constexpr std::uint64_t kLongCallNs = 20'000;

bool is_copy(std::string_view api) {
  return api.find("emcpy") != std::string_view::npos || api.find("emset") != std::string_view::npos;
}

}  // namespace

void OwnBusy::add(std::uint32_t gpu, TimeNs from, TimeNs to) {
  std::vector<Span>& spans = gpus_[gpu];
  if (!spans.empty() && from <= spans.back().to) {
    spans.back().to = std::max(spans.back().to, to);
    return;
  }
  const std::uint64_t before_ns =
      spans.empty() ? 0 : spans.back().before_ns + duration_ns(spans.back().from, spans.back().to);
  spans.push_back({from, to, before_ns});
}

std::uint64_t OwnBusy::within(std::uint32_t gpu, TimeNs from, TimeNs to) const noexcept {
  const auto spans = gpus_.find(gpu);
  if (spans == gpus_.end() || from >= to) return 0;
  const auto until = [&](TimeNs time) -> std::uint64_t {
    const auto after = std::upper_bound(spans->second.begin(), spans->second.end(), time,
                                        [](TimeNs t, const Span& span) { return t < span.from; });
    if (after == spans->second.begin()) return 0;
    const Span& last = *std::prev(after);
    return last.before_ns + duration_ns(last.from, std::min(time, last.to));
  };
  return until(to) - until(from);
}

std::uint64_t OwnBusy::within(TimeNs from, TimeNs to) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& [gpu, spans] : gpus_) sum += within(gpu, from, to);
  return sum;
}

void RankWork::begin(Iterations iterations) {
  if (!iterations.instances.empty()) iteration_thread_ = iterations.instances.front().thread;
  log_.begin(std::move(iterations));
}

/// NCCL's ranges belong to the module around them; ranges around the iterations are outside.
void RankWork::set_modules(const TraceNames& names) {
  names_ = &names;
  std::unordered_set<std::uint32_t> around{0};
  for (const std::uint32_t path : log_.iterations().paths) {
    for (std::uint32_t at = names.parent_of(path); at != 0; at = names.parent_of(at)) around.insert(at);
  }
  std::uint32_t last = 0;
  for (const auto& [id, path] : names.paths) last = std::max(last, id);
  modules_.assign(last + std::size_t{1}, 0);
  for (std::uint32_t id = 1; id <= last; ++id) {  // parents come first
    const auto path = names.paths.find(id);
    if (path == names.paths.end()) continue;
    const auto domain = names.domains.find(path->second.domain);
    const bool nccl = domain != names.domains.end() && domain->second == "NCCL";
    const std::uint32_t parent = path_parent(names.paths, id);
    modules_[id] = nccl ? modules_[parent] : around.contains(id) ? 0 : id;
  }
  width_ = 1 + modules_.size() * kRankCosts * size() / kMaxPlaces;
  cells_.resize(modules_.size());
}

template <typename What>
std::size_t RankWork::at(const What& what) const {
  const Iterations& iterations = log_.iterations();
  if (iterations.instances.empty()) return 0;
  const std::size_t last = iterations.last_before(what);
  return last + 1 == iterations.instances.size() ? iterations.of(what) : last;
}

void RankWork::put(RankCost cost, std::uint32_t path, std::size_t iteration, double ns) {
  if (iteration == kNone || path >= cells_.size()) return;
  std::unique_ptr<Cells>& cells = cells_[path];
  if (cells == nullptr) cells = std::make_unique<Cells>();
  std::vector<float>& values = (*cells)[static_cast<std::size_t>(cost)];
  if (values.empty()) values.resize((size() - 1) / width_ + 1);
  values[iteration / width_] += static_cast<float>(ns);
}

void RankWork::add(const SelectedRows& rows) {
  if (names_ == nullptr) set_modules(rows.names());
  names_ = &rows.names();
  log_.begin_chunk(rows);
  rows.other_lines([this](const Line& line) { communication_.add_names(line); });
  if (!names_->stacks.empty()) add_stacks(rows);
  rows.ranges(kColumns, [this](const RangeRecord& range, bool begins) {
    if (!begins) return;
    communication_.add_range(range);
    log_.add_range(range);
    add_range(range);
  });
  const auto call = [this](const auto& record, bool) {
    log_.add_call(record);
    add_call(record);
  };
  rows.launches(kColumns, call);
  rows.other_calls(kColumns, call);
  rows.work(kColumns, [this](const auto& record, bool begins) {
    log_.add_work(record, begins);
    add_work(record, begins);
  });
}

void RankWork::add_stacks(const SelectedRows& rows) {
  stacks_.add(rows);
  rows.lines<HoldRecord>([this](const HoldRecord& hold) { hosts_[hold.thread].add_hold(hold); });
  rows.ranges(kColumns, [this](const RangeRecord& range, bool begins) {
    if (begins && range.name == 0) hosts_[range.thread].add_range(range.start_ns, range.end_ns, range.path);
  });
  const auto call = [this](const auto& record, bool) {
    const HostWork& host = host_of(record);
    const HostCall kind = host_call_kind(record);
    if (kind == HostCall::launch && elapsed_ns(host.start_ns, host.end_ns) < kLongCallNs) return;
    hosts_[host.thread].add_call(host.start_ns, host.end_ns, kind);
  };
  rows.launches(kColumns, call);
  rows.other_calls(kColumns, call);
}

/// As add_range(), add_call() and add_time_between() count RankCost::host.
void RankWork::match_stacks() {
  stacks_.finish();
  for (const auto& [thread, moments] : stacks_.threads()) {
    HostTimeline& host = hosts_[thread];
    host.finish();
    HostTimeline::Cursor cursor;
    for (const StackMoment& moment : moments) {
      const HostPiece piece = host.at(moment.at_ns, cursor);
      if (piece.path == kHeldPath || piece.in_call()) continue;
      const std::uint32_t path = module_of(piece.path);
      if (path == 0 && thread != iteration_thread_) continue;
      host_samples_.push_back({path, at(moment.at_ns), moment});
    }
  }
  stacks_ = StackSamples();
  hosts_.clear();
}

void RankWork::add_range(const RangeRecord& range) {
  if (range.end_ns == kNoTime || range.path == 0 || range.name != 0) return;
  const std::uint32_t path = module_of(range.path);
  if (path != range.path) return;  // stays in the module around it
  const std::size_t iteration = at(range.start_ns);
  const auto ns = static_cast<double>(names_->holds.net_ns(range.thread, range.start_ns, range.end_ns));
  put(RankCost::host, path, iteration, ns);
  const std::uint32_t parent = module_of(names_->parent_of(range.path));
  if (parent != 0 || range.thread == iteration_thread_) put(RankCost::host, parent, iteration, -ns);
}

template <typename Record>
void RankWork::add_call(const Record& record) {
  if constexpr (std::is_same_v<Record, ExactRecord>) {
    if (record.is_counter_range) return;
  }
  const HostWork& host = host_of(record);
  const std::uint32_t path = module_of(host.path);
  const std::size_t iteration = at(host.start_ns);
  RankCost cost = RankCost::launching;
  if constexpr (std::is_same_v<Record, SyncRecord>) cost = RankCost::waiting;
  if constexpr (std::is_same_v<Record, AllocRecord>) cost = RankCost::memory;
  if constexpr (std::is_same_v<Record, LaunchRecord>) {
    if (is_copy(record.api)) cost = RankCost::copy_calls;
  }
  const auto ns = static_cast<double>(names_->holds.net_ns(host));
  put(cost, path, iteration, ns);
  // Without ranges nothing tells threads that wait for each other apart: backward passes have their own.
  if (path != 0 || host.thread == iteration_thread_ || !log_.iterations().by_range())
    put(RankCost::host, path, iteration, -ns);
}

template <typename Record>
void RankWork::add_work(const Record& record, bool begins) {
  const GpuWork& work = record.work;
  const std::size_t iteration = at(work);
  bool communicates = false;
  if constexpr (std::is_same_v<Record, KernelRecord>) {
    communicates = names_->communicates(record.name);
    if (begins) communication_.add_kernel(record, *names_, iteration);
  }
  if constexpr (std::is_same_v<Record, MemcpyRecord>) {
    communicates = CommunicationLog::communicates(record);
    if (begins) communication_.add_copy(record);
  }
  if (!is_timed(work)) return;
  timeline_.add(work, !communicates);
  if (communicates) return;
  const bool kernel = is_kernel(record) || is_graph(record);
  if constexpr (std::is_same_v<Record, KernelRecord>) {
    if (iteration != kNone) {
      std::vector<float>& values = by_name_[{module_of(work.path), record.name}];
      if (values.empty()) values.resize((size() - 1) / width_ + 1);
      values[iteration / width_] += static_cast<float>(duration_ns(work.start_ns, work.end_ns));
    }
  }
  put(kernel ? RankCost::kernels : RankCost::copies, module_of(work.path), iteration,
      static_cast<double>(duration_ns(work.start_ns, work.end_ns)));
}

void RankWork::finish() {
  if (names_ == nullptr) return;  // no chunk
  timeline_.finish();
  communication_.finish();
  log_.finish();
  add_time_between();
  match_stacks();
  set_own_busy();
  log_.forget_launches();
}

/// Of the thread with the iterations: all of an iteration that is in no range and no call.
void RankWork::add_time_between() {
  const std::vector<Iteration>& all = log_.iterations().instances;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TimeNs end_ns = i + 1 < all.size() ? all[i + 1].start_ns : all[i].end_ns;
    put(RankCost::host, 0, i,
        static_cast<double>(names_->holds.net_ns(iteration_thread_, all[i].start_ns, end_ns)));
  }
}

/// Of an iteration: from the end of the work of those before to that of its own work.
void RankWork::set_own_busy() {
  const std::vector<IterationTotals>& rows = log_.rows();
  if (rows.empty()) {
    own_busy_ns_.push_back(static_cast<double>(own_busy_.within(INT64_MIN, INT64_MAX)));
    return;
  }
  TimeNs done_ns = kNoTime;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TimeNs from_ns = done_ns == kNoTime ? log_.iterations().instances[i].start_ns : done_ns;
    if (rows[i].last_gpu_ns != kNoTime) done_ns = std::max(from_ns, rows[i].last_gpu_ns);
    own_busy_ns_.push_back(done_ns == kNoTime ? 0 : static_cast<double>(own_busy_.within(from_ns, done_ns)));
  }
}

double RankWork::ns(RankCost cost, std::uint32_t path, std::size_t iteration) const noexcept {
  if (path >= cells_.size() || cells_[path] == nullptr) return 0;
  return value_of((*cells_[path])[static_cast<std::size_t>(cost)], iteration);
}

double RankWork::value_of(const std::vector<float>& values, std::size_t iteration) const noexcept {
  const std::size_t place = iteration / width_;
  if (place >= values.size()) return 0;
  const std::size_t in_place = std::min(width_, size() - place * width_);
  return static_cast<double>(values[place]) / static_cast<double>(in_place);
}

double RankWork::own_busy_ns(std::size_t iteration) const noexcept {
  return iteration < own_busy_ns_.size() ? own_busy_ns_[iteration] : 0;
}

}  // namespace rangefinder
