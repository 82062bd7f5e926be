// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/thread_conditions.h"

#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "profiler/conditions/condition_value.h"
#include "profiler/conditions/proc_text.h"
#include "profiler/guest/above_standard_streams.h"

namespace rangefinder {
namespace {

constexpr std::size_t kThreadCpu = static_cast<std::size_t>(Condition::cpu_ms);

/// In ms. Nothing: the thread has ended. The clock's id is made as pthread_getcpuclockid() does, which needs
/// a pthread_t; the kernel accepts it for threads of the same process only.
std::optional<std::uint64_t> cpu_ms_of_thread(std::uint32_t thread) noexcept {
  constexpr std::uint32_t kOfThread = 4, kScheduled = 2;
  const auto clock = static_cast<clockid_t>((~thread << 3) | kOfThread | kScheduled);
  timespec used{};
  if (clock_gettime(clock, &used) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(used.tv_sec) * 1000 +
         static_cast<std::uint64_t>(used.tv_nsec) / 1'000'000;
}

}  // namespace

ThreadConditions::ThreadConditions(const std::string& root, std::uint64_t (*cost_ns)()) : cost_ns_(cost_ns) {
  threads_.reserve(kMaxThreads);
  const std::string path = root + "/proc/self/task";
  file_ = OwnedFile::of(above_standard_streams(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  if (file_.file < 0) return;
  folder_ = fdopendir(file_.file);
  if (folder_ == nullptr) file_.close();
}

ThreadConditions::~ThreadConditions() {
  // Otherwise the number is now a file of the application: closedir() would close that.
  if (folder_ != nullptr && file_.is_ours()) closedir(folder_);
}

ThreadConditions::Thread* ThreadConditions::find_or_add(std::uint32_t id) {
  const auto place =
      std::lower_bound(threads_.begin(), threads_.end(), id,
                       [](const Thread& thread, std::uint32_t other) { return thread.id < other; });
  if (place != threads_.end() && place->id == id) return &*place;
  if (threads_.size() == kMaxThreads) return nullptr;
  return &*threads_.insert(place, Thread{id, scan_, 0});
}

void ThreadConditions::read_thread(std::uint32_t id, TimeNs at_ns,
                                   const std::function<void(const ConditionRecord&)>& sink) {
  Thread* const thread = find_or_add(id);
  if (thread == nullptr) {
    ++skipped_;
    return;
  }
  thread->scan = scan_;
  const std::optional<std::uint64_t> cpu_ms = cpu_ms_of_thread(id);
  // Less than before: another thread with the id of an ended one.
  if (!cpu_ms || (*cpu_ms >= thread->written_ms && !is_change(kThreadCpu, thread->written_ms, *cpu_ms)))
    return;
  thread->written_ms = *cpu_ms;
  ConditionRecord record{at_ns, ConditionOf::thread, id, {}};
  record.values[kThreadCpu] = cpu_ms;
  sink(record);
}

void ThreadConditions::scan(std::int64_t now_ns, TimeNs at_ns,
                            const std::function<void(const ConditionRecord&)>& sink) {
  const std::uint64_t before_ns = cost_ns_();
  next_ns_ = now_ns + kMinIntervalNs;
  if (folder_ == nullptr || !file_.is_ours()) return;
  ++scan_;
  rewinddir(folder_);
  while (const dirent* const entry = readdir(folder_)) {
    std::string_view name = entry->d_name;
    if (const auto id = next_number(name)) read_thread(static_cast<std::uint32_t>(*id), at_ns, sink);
  }
  std::erase_if(threads_, [this](const Thread& thread) { return thread.scan != scan_; });
  const auto cost_ns = static_cast<std::int64_t>(cost_ns_() - before_ns);
  next_ns_ = now_ns + std::max(kMinIntervalNs, cost_ns * kIntervalOverCost);
}

}  // namespace rangefinder
