// SPDX-License-Identifier: Apache-2.0
#include "tools/export/chrome_parts.h"

#include <algorithm>

#include "tools/export/value_text.h"

namespace rangefinder {

ChromeRow ChromeNvtx::row(std::uint32_t thread, std::uint32_t domain) {
  if (domain == 0) return context_.host_row(thread);
  const RowKey key{context_.process.host_pid, RowKind::domain, thread, domain, 0};
  // Ranges of one domain and thread nest, so they need only one lane.
  return context_.rows.lane(key, 0, INT64_MAX, INT64_MIN, [&] {
    return context_.trace.thread_name(thread) + ", domain " + context_.trace.domain_name(domain);
  });
}

bool ChromeNvtx::is_step(const RangeRecord& range) {
  const std::string& wanted = context_.options.step_range;
  if (wanted.empty() || range.name != 0) return false;
  const auto [it, is_new] = step_paths_.try_emplace(range.path, false);
  if (is_new) {
    it->second =
        context_.trace.own_name(range.path) == wanted || context_.trace.path_text(range.path) == wanted;
  }
  return it->second;
}

void ChromeNvtx::args(const NvtxExtras& extras, std::uint32_t domain, std::uint64_t external_id,
                      std::uint32_t path, bool unclosed) {
  JsonObject args(context_.events.args());
  args.nonzero("External id", external_id);
  if (path != 0) args.open("module") += context_.names.path(path);
  args.nonempty("domain", context_.trace.domain_name(domain));
  if (extras.category != 0) {
    const auto at = context_.trace.categories.find({domain, extras.category});
    args.text("category",
              at == context_.trace.categories.end() ? std::to_string(extras.category) : at->second);
  }
  args.nonempty("color", color_text(extras.color));
  // As text: readers store numbers as doubles, in which a u64 would lose its last digits.
  args.nonempty("payload", payload_text(extras));
  args.flag("unclosed", unclosed);
  args.close();
}

void ChromeNvtx::add(const RangeRecord& range) {
  if (range.start_ns == kNoTime) return;
  const bool unclosed = range.end_ns == kNoTime;
  const TimeNs end_ns = unclosed ? std::max(context_.trace.last_ns, range.start_ns) : range.end_ns;
  if (range.name == 0) {
    const std::string name =
        is_step(range) ? "\"ProfilerStep#" + std::to_string(steps_++) + '"' : context_.names.own(range.path);
    context_.events.slice(row(range.thread, range.domain), "user_annotation", name, range.start_ns, end_ns);
    args(range.extras, range.domain, range.id, range.path, unclosed);
    context_.events.close();
    return;
  }
  for (const char phase : {'b', 'e'}) {
    const std::uint32_t thread = phase == 'e' && range.end_thread != 0 ? range.end_thread : range.thread;
    context_.events.moment(phase, context_.host_row(thread), "nvtx_start_end",
                           context_.names.text(range.name), phase == 'b' ? range.start_ns : end_ns);
    // Unique in the file: another process may have a range with the same id.
    context_.events.text() += ",\"id\":" + std::to_string(context_.process.first_flow_id + range.id);
    if (phase == 'b') args(range.extras, range.domain, range.id, range.path, unclosed);
    context_.events.close();
  }
}

void ChromeNvtx::add(const MarkRecord& mark) {
  context_.events.moment('i', row(mark.thread, mark.domain), "cpu_instant_event",
                         context_.names.text(mark.name), mark.at_ns);
  context_.events.text() += ",\"s\":\"t\"";
  args(mark.extras, mark.domain, mark.range, mark.path, false);
  context_.events.close();
}

}  // namespace rangefinder
