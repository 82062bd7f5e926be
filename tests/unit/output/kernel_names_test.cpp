// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/kernel_names.h"

#include <cstring>
#include <memory>
#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

LaunchConfigRecord config(std::uint32_t grid_x) {
  LaunchConfigRecord out;
  out.grid = {grid_x, 1, 1};
  out.block = {128, 1, 1};
  return out;
}

}  // namespace

TEST_CASE("a kernel's name is kept both mangled and demangled, with its library") {
  LossLedger loss;
  KernelNames names(loss);

  const KernelNameRecord& name = names.name(names.intern("_ZN2at6native9fill_implIfEEvPfi"));

  CHECK(name.mangled == "_ZN2at6native9fill_implIfEEvPfi");
  CHECK(name.demangled == "void at::native::fill_impl<float>(float*, int)");
  CHECK(name.from_library == "PyTorch");
  CHECK(name.evidence == "name contains at::native");
}

TEST_CASE("a name that is not a mangled C++ name stays as it is") {
  LossLedger loss;
  KernelNames names(loss);
  for (const char* text : {"nvjet_hsh_128x256", "_Znonsense", "_Z", "", "f"}) {
    INFO(text);
    CHECK(names.name(names.intern(text)).demangled == text);
  }
}

TEST_CASE("a kernel that --communication names communicates, whatever library it is of") {
  LossLedger loss;
  KernelNames names(loss, "^ring|step$");

  const KernelNameRecord& name = names.name(names.intern("ring_exchange"));
  CHECK(name.from_library == "communication");
  CHECK(name.evidence == "--communication");
  CHECK(names.name(names.intern("exchange_ring")).from_library == "own");
}

TEST_CASE("one text has one id, whatever the pointer") {
  LossLedger loss;
  KernelNames names(loss);
  const std::string a = "_Z3addPf", b = a;

  const std::uint32_t id = names.intern_pointer(a.c_str());

  CHECK(names.intern_pointer(a.c_str()) == id);
  CHECK(names.intern_pointer(b.c_str()) == id);
  CHECK(names.intern(a) == id);
  CHECK(names.size() == 2);  // with "(other)"
}

TEST_CASE("a pointer whose text changed, as after a module was unloaded, is another kernel") {
  LossLedger loss;
  KernelNames names(loss);
  char memory[16] = "first";
  const std::uint32_t first = names.intern_pointer(memory);

  std::strcpy(memory, "second");
  const std::uint32_t second = names.intern_pointer(memory);

  CHECK(second != first);
  CHECK(names.name(second).mangled == "second");
  std::strcpy(memory, "first");
  CHECK(names.intern_pointer(memory) == first);
}

TEST_CASE("kernels whose names differ after 20,000 characters are two, cut and counted once each") {
  LossLedger loss;
  KernelNames names(loss);
  const std::string text(20'000, 'n'), one = text + '1', two = text + '2';

  const std::uint32_t id = names.intern_pointer(one.c_str());

  CHECK(names.intern_pointer(two.c_str()) != id);
  CHECK(names.intern_pointer(one.c_str()) == id);
  CHECK(names.intern(one) == id);
  CHECK(names.name(id).mangled.size() == KernelNames::kMaxNameBytes);
  CHECK(names.name(id).mangled.starts_with(text.substr(0, 16'000)));
  CHECK(loss.get(Loss::names_truncated) == 2);
}

TEST_CASE("a C++ name that is too long for the demangler keeps its function, and a hash for its arguments") {
  LossLedger loss;
  KernelNames names(loss);
  std::string arguments;
  for (int i = 0; i < 5'000; ++i) arguments += "4tile";
  const auto name = [&](const std::string& begin, const std::string& last) {
    return names.name(names.intern(begin + "I" + arguments + last + "Evv")).demangled;
  };

  const std::string one = name("_ZN7cutlass12_GLOBAL__N_113device_kernel", "1a");

  CHECK(one.starts_with("cutlass::(anonymous namespace)::device_kernel<...~"));
  CHECK(one.size() == std::string_view("cutlass::(anonymous namespace)::device_kernel<...~>").size() + 16);
  CHECK(name("_ZN7cutlass12_GLOBAL__N_113device_kernel", "1b") != one);
  CHECK(name("_Z4copy", "1a").starts_with("copy<...~"));
  CHECK(name("_ZNK9", "1a").starts_with("_ZNK9I"));
  CHECK(name("_ZN99999999cut", "1a").starts_with("_ZN99999999cutI"));
  CHECK(name("_Z7no_name7", "1a").starts_with("_Z7no_name7I"));
}

TEST_CASE("after 65,536 names every new one is (other), counted, and known ones stay") {
  LossLedger loss;
  KernelNames names(loss);
  while (names.size() < KernelNames::kMaxNames) {
    REQUIRE(names.intern("k" + std::to_string(names.size())) != kOtherKernel);
  }

  CHECK(names.intern("one too many") == kOtherKernel);
  CHECK(names.name(kOtherKernel).demangled == "(other)");
  CHECK(names.name(names.intern("k1")).mangled == "k1");
  CHECK(loss.get(Loss::names_folded) == 1);
}

TEST_CASE("configurations share an id only if all fields are equal") {
  LossLedger loss;
  KernelNames names(loss);
  const std::uint32_t id = names.intern(config(1));
  LaunchConfigRecord other[8] = {config(1), config(1), config(1), config(1),
                                 config(1), config(1), config(1), config(1)};
  other[0].grid.z = 2;
  other[1].block.y = 2;
  other[2].cluster = {2, 1, 1};
  other[3].registers = 5;
  other[4].static_shared_bytes = 5;
  other[5].dynamic_shared_bytes = 5;
  other[6].shared_bytes_executed = 5;
  other[7].local_bytes_per_thread = 5;

  CHECK(names.intern(config(1)) == id);
  for (const LaunchConfigRecord& different : other) CHECK(names.intern(different) != id);
  CHECK(names.config(id).id == id);
  CHECK(names.config(id).grid == Dim3{1, 1, 1});
}

TEST_CASE("after too many configurations the table is cleared, and ids are not reused") {
  LossLedger loss;
  KernelNames names(loss);
  for (std::uint32_t i = 1; i <= KernelNames::kMaxConfigs; ++i) REQUIRE(names.intern(config(i)) == i);

  const std::uint32_t fresh = names.intern(config(0));

  CHECK(fresh == KernelNames::kMaxConfigs + 1);
  CHECK(names.intern(config(1)) == fresh + 1);
  CHECK(names.config(fresh).grid.x == 0);
}

TEST_CASE("a record that waited while the table was cleared still finds its configuration") {
  LossLedger loss;
  KernelNames names(loss);
  for (std::uint32_t i = 1; i <= KernelNames::kMaxConfigs; ++i) REQUIRE(names.intern(config(i)) == i);
  constexpr std::uint32_t kWaiting = KernelNames::kMaxConfigs - 7;

  (void)names.intern(config(0));

  CHECK(names.config(kWaiting).grid.x == kWaiting);
}
