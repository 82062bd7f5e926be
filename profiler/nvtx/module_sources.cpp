// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/module_sources.h"

#include <atomic>
#include <charconv>

#include "profiler/events/fold_digits.h"
#include "profiler/events/module_chain.h"
#include "profiler/events/recorder.h"

namespace rangefinder {
namespace {

std::atomic<std::uint32_t> g_domain{0};  // 0, the default domain: it was not created yet

struct SourceLine {
  std::uint32_t file = 0;  // name; 0: unknown
  std::uint32_t line = 0;
};

/// Takes the first line of `text`.
std::string_view take_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Of "model.py:214".
SourceLine source_line(ThreadState& state, std::string_view text) noexcept {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  SourceLine out;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), out.line);
  if (error != std::errc{} || end != text.data() + text.size() || out.line == 0) return {};
  out.file = state.name_of(text.substr(0, colon));
  return out.file == kOtherName ? SourceLine{} : out;
}

/// As it is in paths.
std::uint32_t range_name(ThreadState& state, std::string_view text) noexcept {
  if (!recorder().fold_digits.load(std::memory_order_relaxed)) return state.name_of(text);
  char folded[NameTable::kLongTextBytes];
  return state.name_of(fold_digits(text, folded));
}

constexpr std::string_view kOriginHead = "kernel\n";

void record_origin(ThreadState& state, std::string_view text) noexcept {
  const std::string_view kernel = take_line(text), operators = take_line(text);
  const SourceLine at = source_line(state, take_line(text));
  Event event;
  event.kind = EventKind::kernel_origin;
  event.start_ns = event.end_ns = recorder().clock.now_ns();
  event.path = state.stack().path();
  event.origin.kernel = state.name_of(kernel);
  event.origin.operators = state.name_of(operators);
  event.origin.file = at.file;
  event.origin.line = at.line;
  const bool is_named = !kernel.empty() && event.origin.kernel != kOtherName && event.path != kOtherPath;
  if (is_named && event.path != 0) state.emit(event);
}

}  // namespace

void note_domain(std::string_view name, std::uint32_t domain) noexcept {
  if (name == kSourceDomain && domain < Recorder::kMaxDomains - 1)  // the last id is shared
    g_domain.store(domain, std::memory_order_relaxed);
}

bool is_source_domain(std::uint32_t domain) noexcept {
  return domain != 0 && domain == g_domain.load(std::memory_order_relaxed);
}

void record_source(ThreadState& state, std::string_view text) noexcept {
  if (text.starts_with(kOriginHead)) return record_origin(state, text.substr(kOriginHead.size()));
  const SourceLine of_class = source_line(state, take_line(text)), call = source_line(state, take_line(text));
  const std::uint32_t path = state.stack().path();
  if ((of_class.file == 0 && call.file == 0) || text.empty() || path == 0 || path == kOtherPath) return;
  const std::size_t last = text.rfind('\n') + 1;  // npos + 1 is 0
  // Another name: a range too deep for a path, or names that the table had no room for.
  if (recorder().paths.node(path).name != range_name(state, text.substr(last))) return;
  Event event;
  event.kind = EventKind::module_source;
  event.start_ns = event.end_ns = recorder().clock.now_ns();
  event.path = path;
  event.source.module = 0;
  while (!text.empty()) {
    const std::size_t begin = text.rfind('\n') + 1;
    event.source.module = module_chain(event.source.module, range_name(state, text.substr(begin)));
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
  }
  event.source.class_file = of_class.file;
  event.source.class_line = of_class.line;
  event.source.call_file = call.file;
  event.source.call_line = call.line;
  state.emit(event);
}

}  // namespace rangefinder
