// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/counter_errors.h"

#include <set>
#include <string>

#include "tests/catch.h"

using rangefinder::counter_error_fix;

namespace {

constexpr CUptiResult kRefusals[] = {
    CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
    CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
    CUPTI_ERROR_HARDWARE_BUSY,
    CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED,
    CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
    CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED,
    CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED,
    CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED,
    CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
    CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED,
    CUPTI_ERROR_INVALID_CHIP_NAME,
    CUPTI_ERROR_NOT_SUPPORTED,
    CUPTI_ERROR_INVALID_METRIC_NAME,
    CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
    CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
    CUPTI_ERROR_OUT_OF_MEMORY,
};

bool says(CUptiResult result, const char* what) {
  return std::string(counter_error_fix(result)).find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("every refusal that can occur in the field has its own sentence") {
  std::set<std::string> sentences;
  for (const CUptiResult result : kRefusals) {
    INFO("CUptiResult " << static_cast<int>(result));
    const std::string sentence(counter_error_fix(result));

    CHECK_FALSE(sentence.empty());
    CHECK(sentence.find('\n') == std::string::npos);
    CHECK(sentence.back() != '.');  // the caller continues the sentence
    sentences.insert(sentence);
  }
  CHECK(sentences.size() == std::size(kRefusals));
}

TEST_CASE("known errors say exactly how to fix them") {
  CHECK(says(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "NVreg_RestrictProfilingToAdminUsers=0"));
  CHECK(says(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CAP_SYS_ADMIN"));
  CHECK(says(CUPTI_ERROR_HARDWARE_BUSY, "dcgmi profile --pause"));
  CHECK(says(CUPTI_ERROR_OUT_OF_MEMORY, "--exact-batch"));
}

TEST_CASE("a code without an entry gives nothing, so that CUPTI's own text is used") {
  CHECK(counter_error_fix(CUPTI_SUCCESS).empty());
  CHECK(counter_error_fix(CUPTI_ERROR_UNKNOWN).empty());
  CHECK(counter_error_fix(static_cast<CUptiResult>(123456)).empty());
}
