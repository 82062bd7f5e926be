// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tools/export/chrome_parts.h"

namespace rangefinder {
namespace {

constexpr std::string_view kCategory = "host_stack";

/// True if samples are missing between two. The times of samples that a line has as one element are exact to
/// half an interval: without a missing sample two are up to 1.5 intervals apart, and a little more where the
/// profiler read late.
bool is_gap(std::uint64_t apart_ns, std::uint32_t interval_ns) {
  return apart_ns > std::uint64_t{2} * interval_ns;
}

}  // namespace

ChromeStacks::Thread& ChromeStacks::thread_of(const StackSampleRecord& record) {
  const auto [at, is_new] = threads_.try_emplace(record.thread);
  if (is_new) {
    const RowKey key{context_.process.host_pid, RowKind::stacks, record.thread, 0, 0};
    at->second.row = context_.rows.lane(key, 0, record.start_ns, record.end_ns, [&] {
      return context_.trace.thread_name(record.thread) + " stacks";
    });
  }
  return at->second;
}

std::size_t ChromeStacks::alike(const Thread& thread) const {
  const StackNames& names = context_.trace.host_stacks;
  const auto is_alike = [&](std::uint32_t one, std::uint32_t other) {
    if (one == other) return true;
    const FrameRecord& a = names.frame(one);
    const FrameRecord& b = names.frame(other);
    return a.function == b.function && a.file == b.file;
  };
  const auto end =
      std::mismatch(thread.open.begin(), thread.open.end(), frames_.begin(), frames_.end(), is_alike).first;
  return static_cast<std::size_t>(end - thread.open.begin());
}

void ChromeStacks::close(Thread& thread, std::size_t depth, TimeNs at_ns) {
  for (; thread.open.size() > depth; thread.open.pop_back()) {
    context_.events.moment('E', thread.row, kCategory, context_.names.function(thread.open.back()), at_ns);
    context_.events.close();
  }
}

void ChromeStacks::open(Thread& thread, TimeNs at_ns) {
  while (thread.open.size() < frames_.size()) {
    const std::uint32_t frame = frames_[thread.open.size()];
    context_.events.moment('B', thread.row, kCategory, context_.names.function(frame), at_ns);
    context_.events.close_with([&](JsonObject& args) {
      args.nonempty("source", source_text(context_.trace.host_stacks.frame(frame)));
    });
    thread.open.push_back(frame);
  }
}

void ChromeStacks::add(const StackSampleRecord& record) {
  Thread& thread = thread_of(record);
  for (const StackSample& sample : record.samples) {
    // Slices of a damaged trace, whose times go back, must nest too.
    const TimeNs at_ns = std::max(sample_time_ns(record, sample), thread.last_ns);
    if (!thread.open.empty() &&
        is_gap(span_ns(thread.last_ns, at_ns), std::max(thread.interval_ns, record.interval_ns)))
      close(thread, 0, thread.last_ns + thread.interval_ns);
    context_.trace.host_stacks.frames_of(sample.stack, frames_);
    close(thread, alike(thread), at_ns);
    open(thread, at_ns);
    thread.last_ns = at_ns;
    thread.interval_ns = record.interval_ns;
  }
}

void ChromeStacks::finish() {
  for (auto& [id, thread] : threads_) close(thread, 0, thread.last_ns + thread.interval_ns);
}

}  // namespace rangefinder
