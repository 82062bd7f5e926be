// SPDX-License-Identifier: Apache-2.0
//
// Parts of lines about the trace itself. Mirrors write_tables.cpp.
#include <algorithm>
#include <charconv>

#include "schema/key_names.h"
#include "schema/line_keys.h"

namespace rangefinder {
namespace {

template <typename Struct, std::size_t N>
void read_counts(const LineKeys& keys, const std::array<CountKey<Struct>, N>& names, Struct& counts) {
  for (const auto& [key, member] : names) keys.required(key, counts.*member);
}

void read_own_cost(const LineKeys& keys, OwnCost& cost) {
  for (std::size_t i = 0; i < kOwnCostKeys.size(); ++i) {
    const auto& [key, member] = kOwnCostKeys[i];
    if (i < kFirstOwnCostKeys) {
      keys.required(key, cost.*member);
    } else {
      keys.optional(key, cost.*member);
    }
  }
}

}  // namespace

void version_fields(const LineKeys& keys) {
  std::string_view schema, version;
  keys.required("schema", schema);
  keys.required("version", version);
  if (schema != kTraceSchema) {
    keys.fail({"this is not a Rangefinder trace: schema is \"", schema, "\", not \"", kTraceSchema, "\""});
  }
  int major = 0;
  const char* const end = version.data() + version.size();
  const auto result = std::from_chars(version.data(), end, major);
  if (result.ec != std::errc{} || major < 1 || result.ptr == end || *result.ptr != '.') {
    keys.fail({"version \"", version, "\" is not MAJOR.MINOR"});
  }
  if (major > kSchemaMajor) {
    keys.fail({"the trace has format ", version, ", this program reads up to ", std::to_string(kSchemaMajor),
               ".x: use a newer Rangefinder"});
  }
}

void capability_field(const LineKeys& keys, GpuRecord& record) {
  simdjson::dom::array capability;
  if (keys.must_find("compute_capability").get(capability) || capability.size() != 2) {
    keys.refuse("compute_capability", "an array of two integers");
  }
  keys.read("compute_capability", capability.at(0).value_unsafe(), record.compute_major);
  keys.read("compute_capability", capability.at(1).value_unsafe(), record.compute_minor);
}

void definition_field(const LineKeys& keys, PayloadSchemaRecord&) {
  static_cast<void>(keys.object_at("definition"));
}

void loss_field(const LineKeys& keys, LossByCause& loss) {
  const LineKeys causes = keys.object_at("loss");
  std::uint64_t& unknown = loss[static_cast<std::size_t>(Loss::unknown_cause)];
  for (const auto [name, element] : causes.object()) {
    const auto known = std::find_if(kLossCauses.begin(), kLossCauses.end(),
                                    [&name = name](const LossCause& cause) { return name == cause.name; });
    std::uint64_t count = 0;
    causes.read(name, element, count);
    if (known != kLossCauses.end())
      loss[static_cast<std::size_t>(known - kLossCauses.begin())] = count;
    else
      unknown += std::min(count, UINT64_MAX - unknown);
  }
}

void ledger_fields(const LineKeys& keys, EndRecord& record) {
  const LineKeys launches = keys.object_at("launches");
  for (std::size_t i = 0; i < record.balance.size(); ++i) {
    read_counts(launches.object_at(kWorkKindNames[i]), kBalanceKeys, record.balance[i]);
  }
  if (keys.has("truth")) read_counts(keys.object_at("truth"), kTruthKeys, record.truth);
  loss_field(keys, record.loss);
  read_own_cost(keys.object_at("own_cost"), record.own_cost);
}

}  // namespace rangefinder
