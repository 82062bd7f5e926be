// SPDX-License-Identifier: Apache-2.0
//
// When records are disabled and enabled, and in which order.
#include "profiler/activity/node_record_guard.h"

#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

std::string calls;  // "-" disabled, "f" flushed, "+" enabled, each with the kind

CuptiFunctions counting_functions() {
  calls.clear();
  CuptiFunctions cupti;
  cupti.ActivityDisable = [](CUpti_ActivityKind kind) {
    calls += "-" + std::to_string(kind);
    return CUPTI_SUCCESS;
  };
  cupti.ActivityEnable = [](CUpti_ActivityKind kind) {
    calls += "+" + std::to_string(kind);
    return CUPTI_SUCCESS;
  };
  cupti.ActivityFlushAll = [](std::uint32_t flag) {
    calls += flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED ? "f" : "?";
    return CUPTI_SUCCESS;
  };
  return cupti;
}

constexpr std::int64_t kNow = 1'700'000'000'000'000'000;

}  // namespace

TEST_CASE("a few records without times cause no restart") {
  LossLedger loss;
  NodeRecordGuard guard(loss);

  CHECK_FALSE(guard.restart_if_leaking(counting_functions(), NodeRecordGuard::kMinUntimed - 1, kNow));

  CHECK(calls.empty());
  CHECK(loss.get(Loss::records_restarted) == 0);
}

TEST_CASE("many records without times disable records, flush, and enable them again") {
  LossLedger loss;
  NodeRecordGuard guard(loss);

  CHECK(guard.restart_if_leaking(counting_functions(), NodeRecordGuard::kMinUntimed, kNow));

  CHECK(calls == "-10-1-2f+10+1+2");
  CHECK(loss.get(Loss::records_restarted) == 1);
}

TEST_CASE("a restart that did not help is repeated after ten seconds, one that helped is not") {
  LossLedger loss;
  NodeRecordGuard guard(loss);
  const CuptiFunctions cupti = counting_functions();
  CHECK(guard.restart_if_leaking(cupti, 1'000, kNow));

  CHECK_FALSE(guard.restart_if_leaking(cupti, 2'000, kNow + NodeRecordGuard::kPauseNs - 1));
  CHECK_FALSE(guard.restart_if_leaking(cupti, 1'100, kNow + NodeRecordGuard::kPauseNs));
  CHECK(guard.restart_if_leaking(cupti, 2'000, kNow + NodeRecordGuard::kPauseNs));

  CHECK(loss.get(Loss::records_restarted) == 2);
}
