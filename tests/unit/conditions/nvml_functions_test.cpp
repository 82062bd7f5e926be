// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/nvml_functions.h"

#include "tests/catch.h"

namespace rangefinder {
namespace {

TEST_CASE("a machine without NVML gives an empty table, one with it a table with what is always there") {
  const NvmlFunctions nvml = load_nvml();

  CHECK((nvml.Init == nullptr) == (nvml.DeviceGetHandleByUUID == nullptr));
  CHECK((nvml.Init == nullptr) == (nvml.DeviceGetClockInfo == nullptr));
}

TEST_CASE("a field's value is read by its type") {
  NvmlFieldValue field;
  const auto value_of_type = [&field](int type) {
    field.value_type = type;
    return nvml_field_value(field);
  };

  field.value.u64 = 0xffff'ffff'0000'0007;
  CHECK(value_of_type(1) == 7);                      // unsigned int
  CHECK(value_of_type(2) == 0xffff'ffff'0000'0007);  // unsigned long
  CHECK(value_of_type(3) == 0xffff'ffff'0000'0007);  // unsigned long long
  CHECK(value_of_type(4) == 0);                      // signed long long, negative
  CHECK(value_of_type(5) == 7);                      // int
  field.value.real = 2.75;
  CHECK(value_of_type(0) == 2);
  field.value.real = -1;
  CHECK(value_of_type(0) == 0);
}

}  // namespace
}  // namespace rangefinder
