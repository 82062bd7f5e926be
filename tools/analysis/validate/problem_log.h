// SPDX-License-Identifier: Apache-2.0
//
// The problems that `validate` finds: the first ones with their places, and the count of all.
// Bounded: a damaged trace of a million lines gives the same short list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/model/read_ledger.h"

namespace rangefinder {

struct Problem {
  std::string file;
  std::uint64_t line = 0;  ///< 0: the whole file or trace
  std::string kind;        ///< one stable word that tests and scripts check
  std::string text;
};

class ProblemLog {
 public:
  explicit ProblemLog(std::size_t max_kept = 20) : max_kept_(max_kept) {}

  /// Sets the place of all problems that add() adds from now on.
  void at(const LinePlace& place) { place_ = place; }
  void add(const char* kind, const std::string& text) {
    keep({place_.file == nullptr ? std::string() : place_.file->string(), place_.number, kind, text});
  }
  /// Adds a problem of the whole `file`.
  void add_at(const std::string& file, const char* kind, const std::string& text) {
    keep({file, 0, kind, text});
  }

  [[nodiscard]] const std::vector<Problem>& first() const noexcept { return first_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& by_kind() const noexcept { return by_kind_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  void keep(Problem problem) {
    ++count_;
    ++by_kind_[problem.kind];
    if (first_.size() < max_kept_) first_.push_back(std::move(problem));
  }

  std::size_t max_kept_;
  LinePlace place_;
  std::vector<Problem> first_;
  std::map<std::string, std::uint64_t> by_kind_;
  std::uint64_t count_ = 0;
};

}  // namespace rangefinder
