// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/module_sources.h"

#include "profiler/base/iteration_names.h"
#include "tools/analysis/model/trace_names.h"

namespace rangefinder {
namespace {

std::string place(const std::string& file, std::uint32_t line) {
  return file.empty() ? "" : file + ":" + std::to_string(line);
}

}  // namespace

SourceLines::SourceLines(const ModuleSourceRecord& record)
    : of_class(place(record.class_file, record.class_line)),
      of_call(place(record.call_file, record.call_line)) {}

std::string SourceLines::text() const {
  const std::string& shown = of_class.empty() ? of_call : of_class;
  return shown.substr(shown.rfind('/') + 1);  // npos + 1 is 0
}

std::string SourceLines::in_brackets() const {
  return known() ? " (" + text() + ")" : "";
}

void SourceLines::keep_common(const SourceLines& other) {
  if (of_class != other.of_class) of_class.clear();
  if (of_call != other.of_call) of_call.clear();
}

ModuleSources::ModuleSources(const TraceNames& trace) {
  for (const auto& [path, source] : trace.sources) {
    const auto [at, is_new] = by_module_.try_emplace(numbers_folded(trace.path_text(path)), source);
    if (!is_new) at->second.keep_common(source);
  }
}

SourceLines ModuleSources::of(const std::string& module) const {
  if (by_module_.empty()) return {};
  const auto at = by_module_.find(numbers_folded(module));
  return at == by_module_.end() ? SourceLines() : at->second;
}

}  // namespace rangefinder
