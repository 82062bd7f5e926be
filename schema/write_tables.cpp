// SPDX-License-Identifier: Apache-2.0
//
// Parts of lines about the trace itself.
#include <algorithm>

#include "schema/line_writer.h"

namespace rangefinder {
namespace {

template <typename Struct, std::size_t N>
void append_counts(std::string& out, const std::array<CountKey<Struct>, N>& keys, const Struct& counts) {
  JsonObject object(out);
  for (const auto& [key, member] : keys) append_json_number(object.open_named(key), counts.*member);
  object.close();
}

}  // namespace

void version_fields(LineWriter& line) {
  line.text("schema", kTraceSchema);
  line.text("version", kSchemaVersion);
}

void capability_field(LineWriter& line, const GpuRecord& record) {
  line.numbers("compute_capability", {record.compute_major, record.compute_minor});
}

void definition_field(LineWriter& line, const PayloadSchemaRecord& record) {
  std::string& to = line.open("definition");
  const std::size_t begin = to.size();
  to += record.definition.empty() ? std::string_view("{}") : std::string_view(record.definition);
  // In valid JSON a raw line break is only white space, but here it would end the line.
  std::replace_if(
      to.begin() + static_cast<std::ptrdiff_t>(begin), to.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

void loss_field(LineWriter& line, const LossByCause& loss) {
  JsonObject causes(line.open("loss"));
  for (std::size_t i = 0; i < loss.size(); ++i) {
    if (loss[i] != 0) append_json_number(causes.open_named(kLossCauses[i].name), loss[i]);
  }
  causes.close();
}

void ledger_fields(LineWriter& line, const EndRecord& record) {
  JsonObject launches(line.open("launches"));
  for (std::size_t i = 0; i < record.balance.size(); ++i) {
    append_counts(launches.open_named(kWorkKindNames[i]), kBalanceKeys, record.balance[i]);
  }
  launches.close();
  if (record.truth.copies != 0) append_counts(line.open("truth"), kTruthKeys, record.truth);
  loss_field(line, record.loss);
  // The last key is omitted if it is 0: traces without conditions are as they were.
  constexpr std::size_t kAlwaysOwnCostKeys = kOwnCostKeys.size() - 2;
  JsonObject cost(line.open("own_cost"));
  for (std::size_t i = 0; i < kOwnCostKeys.size(); ++i) {
    const std::uint64_t value = record.own_cost.*kOwnCostKeys[i].member;
    if (i < kAlwaysOwnCostKeys || value != 0) append_json_number(cost.open_named(kOwnCostKeys[i].key), value);
  }
  cost.close();
}

}  // namespace rangefinder
