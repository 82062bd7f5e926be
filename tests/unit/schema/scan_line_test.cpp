// SPDX-License-Identifier: Apache-2.0
#include "schema/scan_line.h"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/schema/plain_lines.h"

using namespace rangefinder;

namespace {

/// Memory that ends where the contract allows: AddressSanitizer reports a read behind it.
std::vector<char> memory_of(const std::string& lines) {
  std::vector<char> out(lines.begin(), lines.end());
  out.resize(lines.size() + kScanPadding);
  out.shrink_to_fit();
  return out;
}

/// Owns the record that is read into.
struct ExactOwner {
  ExactRecord exact;
  std::vector<double> values;

  template <typename Record>
  requires std::same_as<Record, ExactRecord> ExactRecord& place() { return exact = {}; }
  void operator()(ExactRecord&& record) { values = std::move(record.values); }
  void operator()(const auto&) { FAIL("another kind"); }
};

}  // namespace

TEST_CASE("each line's record goes to the sink with its type, and the next line follows") {
  std::string text;
  for (const std::string& line : plain_lines::lines()) text += line + "\n";
  const std::vector<char> memory = memory_of(text);
  TextPool pool;
  std::string seen;

  const char* at = memory.data();
  while (at != memory.data() + text.size()) {
    const char* const next =
        scan_line(at, pool, [&]<typename Record>(Record&& record) { write_line(seen, record); });
    REQUIRE(next != nullptr);
    at = next;
  }

  CHECK(seen == text);
}

TEST_CASE("a line that is cut anywhere gives no record, and nothing behind its end is read") {
  TextPool pool;
  for (const std::string& line : plain_lines::lines()) {
    for (std::size_t size = 0; size < line.size(); ++size) {
      const std::vector<char> memory = memory_of(line.substr(0, size) + "\n");
      bool called = false;
      const char* const next = scan_line(memory.data(), pool, [&](auto&&) { called = true; });
      if (next != nullptr || called) FAIL("reads " << line.substr(0, size));
    }
  }
}

TEST_CASE("what is behind a line does not change its record") {
  TextPool pool;
  for (const std::string& line : plain_lines::lines()) {
    const std::string alone = plain_lines::scanned(line, pool);
    INFO(line);
    REQUIRE_FALSE(alone.empty());
    for (const char* const behind : {"7", "}", ",\"path\":1}", " "}) {
      CHECK(plain_lines::scanned(line + behind, pool).empty());
    }
  }
}

TEST_CASE("a sink can own the record, and can move it") {
  const std::vector<char> memory = memory_of(
      R"({"t":"exact","start":1,"end":2,"thread":3,"api":"cuLaunchKernel","corr":6,"kind":"kernel","gpu":5,"gpu_ns":7,"set":1,"values":[1.5,null]})"
      "\n");
  TextPool pool;
  ExactOwner owner;

  REQUIRE(scan_line(memory.data(), pool, owner) != nullptr);

  CHECK(owner.exact.gpu == 5);
  REQUIRE(owner.values.size() == 2);
  CHECK(owner.values[0] == 1.5);
  CHECK(owner.exact.values.empty());
}

TEST_CASE("a pool keeps one copy of each text, also of names that alternate") {
  TextPool pool;
  std::vector<std::string_view> first;
  std::vector<std::string> names{"", "cuLaunchKernel", "cuLaunchKernelEx", "cuMemcpyHtoDAsync",
                                 "cuMemcpyDtoHAsync"};
  for (int i = 0; i < 200; ++i) names.push_back("name" + std::to_string(i));
  for (const std::string& name : names) first.push_back(pool.keep(name));

  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string_view again = pool.keep(std::string(names[i]));
    CHECK(again == names[i]);
    CHECK(again.data() == first[i].data());
  }
}
