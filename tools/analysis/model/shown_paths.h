// SPDX-License-Identifier: Apache-2.0
//
// The paths of a trace as reports show them, made once from its path lines. The trace keeps the names as the
// program gave them.
//
//   as recorded                                            shown
//   iterations10 > "" > model > model.encoder.layers.0     iterations* / model / encoder / layers / 0
//   iterations11 > "" > model > model.encoder.layers.0     the same path
//
//   * The number of an iteration is folded, so all iterations are one path (iteration_names.h). Names below
//     an iteration keep their numbers: they are layers. Parts of an epoch are iterations.
//   * A dotted name of a module becomes levels, without the part that an enclosing module has already.
//   * A range without a name is no level.
//   * A name that a framework gives for itself is read (range_names.h).
//
// Trace and read_lines() apply this to every line, so all tables agree. Ids are new: 1, 2, … in order of
// first appearance, parents first. The same lines always give the same ids. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/model/dense_ids.h"

namespace rangefinder {

class ShownPaths {
 public:
  /// `iteration_range`: glob that the user gave for the iterations, or empty. Names that it matches exactly
  /// are iterations too.
  /// `recorded`: all paths are shown as recorded.
  explicit ShownPaths(std::string iteration_range = {}, bool recorded = false)
      : recorded_(recorded), glob_(std::move(iteration_range)) {}

  /// Call it for each path line. Returns the shown paths that replace it: levels that no range has by
  /// itself, then its own. Empty: the range is no level. Valid until the next call.
  [[nodiscard]] const std::vector<PathRecord>& add(const PathRecord& path);
  /// The shown path of a recorded one; for a range that is no level, that of its parent.
  [[nodiscard]] std::uint32_t id_of(std::uint32_t recorded) {
    if (recorded == 0 || recorded_) return recorded;
    const std::uint32_t shown = ids_.find(recorded);
    return shown != DenseIds::kNone ? shown : add_unknown(recorded);
  }
  /// Whether a range of this path is no level.
  [[nodiscard]] bool is_omitted(std::uint32_t recorded) const {
    return !omitted_.empty() && omitted_.count(recorded) != 0;
  }
  /// The lines that readers see in place of this one: those of add() for a path line.
  template <typename See>
  void each_shown(Line& line, See&& see) {
    if (recorded_) return see(static_cast<const Line&>(line));
    const auto* const path = std::get_if<PathRecord>(&line);
    if (path == nullptr) {
      std::visit([this](auto& record) { apply(record); }, line);
      return see(static_cast<const Line&>(line));
    }
    const std::uint32_t id = path->id;
    for (const PathRecord& shown : add(*path)) see(Line(shown));
    if (is_omitted(id)) see(Line(NameRecord{kUnnamed, "(no name)"}));
  }

  /// Names joined by '/'; "" for 0.
  [[nodiscard]] std::string text(std::uint32_t shown) const;
  /// Compiled code that a framework calls as a whole, by the name that it has in the trace.
  /// False for paths as recorded.
  [[nodiscard]] bool is_function(std::uint32_t shown) const {
    return shown < levels_.size() && levels_[shown].kind == Kind::function;
  }

  /// The name of ranges that are no level, as NameRecord::id. No trace has that many names.
  static constexpr std::uint32_t kUnnamed = UINT32_MAX;

 private:
  enum class Kind : std::uint8_t { plain, function, set_up };
  struct Level {
    PathRecord path;
    std::string dotted;  ///< the whole dotted name of a module; empty: the name is not one of a module
    std::uint32_t depth = 0;
    bool in_iteration = false;  ///< an iteration, or below one
    Kind kind = Kind::plain;
  };
  /// A path without a path line.
  std::uint32_t add_unknown(std::uint32_t recorded);
  /// Puts the shown path into a record that has one.
  template <typename Record>
  void apply(Record& record) {
    if constexpr (std::is_same_v<Record, PathRecord>) return;
    if constexpr (std::is_same_v<Record, RangeRecord>) {
      if (record.name == 0 && is_omitted(record.path)) record.name = kUnnamed;
    }
    if constexpr (requires { record.work.path; }) {
      record.work.path = id_of(record.work.path);
    } else if constexpr (requires { record.launch.host.path; }) {
      record.launch.host.path = id_of(record.launch.host.path);
    } else if constexpr (requires { record.host.path; }) {
      record.host.path = id_of(record.host.path);
    } else if constexpr (requires { record.path; }) {
      record.path = id_of(record.path);
    }
    if constexpr (requires { record.bytes_path; }) record.bytes_path = id_of(record.bytes_path);
  }
  std::uint32_t child(std::uint32_t parent, std::uint32_t domain, std::string name, std::string dotted,
                      bool in_iteration);
  /// False: the name is not that of an iteration.
  bool add_iteration(std::uint32_t parent, const PathRecord& path, std::uint32_t& own);
  /// False: the name is not one that a framework gives for itself.
  bool add_read_name(std::uint32_t parent, const PathRecord& path, std::uint32_t& own);
  bool add_module(std::uint32_t parent, const PathRecord& path, std::uint32_t& own);
  [[nodiscard]] std::string name_by_glob(std::uint32_t parent, const std::string& name) const;

  bool recorded_;
  std::string glob_;
  std::vector<Level> levels_ = std::vector<Level>(1);  ///< by shown id; 0: outside of all ranges
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, std::uint32_t> children_;
  DenseIds ids_;  ///< recorded to shown
  std::unordered_set<std::uint32_t> omitted_;
  std::vector<PathRecord> added_;
};

/// `glob` matches the path itself, not only a parent of it.
[[nodiscard]] bool matches_path_itself(std::string_view glob, std::string_view path);

}  // namespace rangefinder
