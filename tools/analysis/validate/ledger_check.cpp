// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "schema/key_names.h"
#include "tools/analysis/validate/trace_check.h"

namespace rangefinder {
namespace {

class LedgerCheck final : public TraceCheck {
 public:
  using TraceCheck::TraceCheck;

  void line(const Line& line) override {
    const std::string_view kind = line_kind(line);
    if (is_event(kind)) {
      ++lines_[std::string(kind)];
      ++events_;
    }
    const auto* const exact = std::get_if<ExactRecord>(&line);
    if (exact != nullptr && !exact->is_counter_range) ++exact_[static_cast<std::size_t>(exact->kind)];
    if (const auto* flush = std::get_if<FlushRecord>(&line)) check(*flush);
  }

  void finish(const TraceFacts& facts) override {
    if (!facts.whole) return;
    if (ahead_ != 0 && !facts.lines_lost()) {
      problems_.add_at(facts.folder, "counts",
                       "a heartbeat counted " + std::to_string(ahead_) +
                           " event lines more than the files have before it");
    }
    if (!facts.is_final) return;
    compare_counts(facts);
    for (std::size_t i = 0; i < kWorkKindNames.size(); ++i) compare_balance(i, facts);
    compare_lost(facts);
  }

 private:
  void check(const FlushRecord& flush) {
    if (flush.records > events_ + ahead_) ahead_ = flush.records - events_;
  }

  void compare_counts(const TraceFacts& facts) const {
    std::map<std::string, std::uint64_t> promised;
    for (const auto& [kind, n] : facts.end.records) {
      if (is_event(kind)) promised[kind] = n;
    }
    for (const auto& [kind, n] : lines_) promised.emplace(kind, 0);
    for (const auto& [kind, n] : promised) {
      const auto it = lines_.find(kind);
      const std::uint64_t found = it == lines_.end() ? 0 : it->second;
      if (found == n || (found < n && facts.lines_lost())) continue;
      problems_.add_at(
          facts.folder, "counts",
          std::to_string(found) + " " + kind + " lines, the end line counted " + std::to_string(n));
    }
  }

  void compare_balance(std::size_t kind, const TraceFacts& facts) const {
    const LaunchBalance& balance = facts.end.balance[kind];
    const std::string name(kWorkKindNames[kind]);
    if (balance.launched != balance.recorded + balance.exact + balance.lost) {
      problems_.add_at(facts.folder, "ledger",
                       name + ": launched " + std::to_string(balance.launched) + " is not recorded " +
                           std::to_string(balance.recorded) + " + exact " + std::to_string(balance.exact) +
                           " + lost " + std::to_string(balance.lost));
    }
    if (exact_[kind] != balance.exact && !(exact_[kind] < balance.exact && facts.lines_lost())) {
      problems_.add_at(facts.folder, "ledger",
                       name + ": " + std::to_string(exact_[kind]) + " exact lines, the ledger counts " +
                           std::to_string(balance.exact));
    }
  }

  /// A launch is lost if its record never arrived or if its slot was overwritten first. Exact launches
  /// without a record are in the loss, but not in the balance.
  void compare_lost(const TraceFacts& facts) const {
    std::uint64_t lost = 0, exact = 0;
    for (const LaunchBalance& balance : facts.end.balance) {
      lost += balance.lost;
      exact += balance.exact;
    }
    const std::uint64_t without_record = facts.lost(Loss::launch_without_record);
    const std::uint64_t overwritten = facts.lost(Loss::launch_slots_overwritten);
    if (lost + exact >= without_record && lost <= without_record + overwritten) return;
    problems_.add_at(facts.folder, "ledger",
                     std::to_string(lost) + " launches are lost, but launch_without_record is " +
                         std::to_string(without_record) + " and launch_slots_overwritten " +
                         std::to_string(overwritten));
  }

  std::map<std::string, std::uint64_t> lines_;
  std::array<std::uint64_t, kWorkKindNames.size()> exact_{};
  std::uint64_t events_ = 0;
  std::uint64_t ahead_ = 0;  ///< maximum by which a heartbeat was ahead of the lines
};

}  // namespace

std::unique_ptr<TraceCheck> make_ledger_check(ProblemLog& problems) {
  return std::make_unique<LedgerCheck>(problems);
}

}  // namespace rangefinder
