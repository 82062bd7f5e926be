// SPDX-License-Identifier: Apache-2.0
//
// Source lines of PyTorch modules, and how people see them.
//
//   module_source line ─▶ SourceLines, by shown path ─▶ text(): model.py:214
//                                                    ─▶ ModuleSources: of `decoder/layers/*/attn`
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "schema/record.h"

namespace rangefinder {

/// "/app/model.py:214"; empty: unknown.
struct SourceLines {
  std::string of_class;  ///< forward() of the module's class; empty for PyTorch's own
  std::string of_call;   ///< where the program calls the module

  SourceLines() = default;
  explicit SourceLines(const ModuleSourceRecord& record);

  [[nodiscard]] bool known() const noexcept { return !of_class.empty() || !of_call.empty(); }
  /// The name of the file and the line, "model.py:214": of the class, else of the call. Empty: unknown.
  [[nodiscard]] std::string text() const;
  /// " (model.py:214)", to follow the module's name. Empty: unknown.
  [[nodiscard]] std::string in_brackets() const;
  /// Keeps what both have.
  void keep_common(const SourceLines& other);
};

struct TraceNames;

/// Source lines by the text of a module with folded numbers, as findings name it.
class ModuleSources {
 public:
  explicit ModuleSources(const TraceNames& trace);

  /// What all paths of the module have in common. `module`: numbers folded or not.
  [[nodiscard]] SourceLines of(const std::string& module) const;

 private:
  std::unordered_map<std::string, SourceLines> by_module_;
};

}  // namespace rangefinder
