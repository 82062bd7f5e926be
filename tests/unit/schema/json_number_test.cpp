// SPDX-License-Identifier: Apache-2.0
#include "schema/json_number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <simdjson.h>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

/// With the padding of the contract.
std::string padded(const std::string& text) {
  return text + "," + std::string(kNumberPadding, '7');
}

template <typename T>
bool takes(const std::string& text, T expected) {
  const std::string memory = padded(text);
  const auto number = take_integer<T>(memory.data());
  return number.end == memory.data() + text.size() && number.value == expected;
}
template <typename T>
bool refuses(const std::string& text) {
  return take_integer<T>(padded(text).data()).end == nullptr;
}

bool takes_real(const std::string& text) {
  const std::string memory = padded(text);
  return take_real(memory.data()).end == memory.data() + text.size();
}

/// Whether take_real() gives the parser's bits, or leaves `text` to it.
bool reads_alike(simdjson::dom::parser& parser, const std::string& text) {
  if (!takes_real(text)) return true;
  double parsed = 0;
  const bool valid = parser.parse(text).get(parsed) == simdjson::SUCCESS;
  const double taken = take_real(padded(text).data()).value;
  return valid && std::bit_cast<std::uint64_t>(parsed) == std::bit_cast<std::uint64_t>(taken);
}

template <typename... Format>
std::string written(double value, Format... format) {
  char text[400];
  return {text, std::to_chars(text, text + sizeof text, value, format...).ptr};
}

}  // namespace

TEST_CASE("integers of each length up to 18 digits are taken") {
  std::string digits;
  std::uint64_t value = 0;
  for (unsigned length = 1; length <= 18; ++length) {
    const unsigned next = (length * 7) % 10;
    digits += static_cast<char>('0' + next);
    value = value * 10 + next;
    INFO(digits);
    CHECK(takes<std::uint64_t>(digits, value));
    CHECK(takes<std::int64_t>(digits, static_cast<std::int64_t>(value)));
    CHECK(takes<std::int64_t>("-" + digits, -static_cast<std::int64_t>(value)));
    CHECK(takes<std::uint64_t>(std::string(length, '9'), std::stoull(std::string(length, '9'))));
    CHECK(takes<std::uint64_t>("1" + std::string(length - 1, '0'),
                               std::stoull("1" + std::string(length - 1, '0'))));
    CHECK(refuses<std::uint64_t>("0" + digits));
    CHECK(refuses<std::int64_t>("0" + digits));
    CHECK(refuses<std::int64_t>("-0" + digits));
    CHECK(refuses<std::uint64_t>("-" + digits));
  }
  CHECK(refuses<std::uint64_t>(digits + "0"));
  CHECK(refuses<std::int64_t>(digits + "0"));
  CHECK(refuses<std::int64_t>(std::string(100, '1')));
}

TEST_CASE("integers are taken up to the limits of their type") {
  CHECK(takes<std::uint32_t>("4294967295", 4294967295));
  CHECK(refuses<std::uint32_t>("4294967296"));
  CHECK(takes<std::int32_t>("2147483647", 2147483647));
  CHECK(refuses<std::int32_t>("2147483648"));
  CHECK(takes<std::int32_t>("-2147483648", std::numeric_limits<std::int32_t>::min()));
  CHECK(refuses<std::int32_t>("-2147483649"));
}

TEST_CASE("what is no plain integer is refused") {
  for (const char* const text : {"", "-", "+1", "-0", "00", ":", "/", "x1", " 1", "--1", "\xb1"}) {
    INFO(text);
    CHECK(refuses<std::uint32_t>(text));
    CHECK(refuses<std::uint64_t>(text));
    CHECK(refuses<std::int32_t>(text));
    CHECK(refuses<std::int64_t>(text));
  }
  CHECK(takes<std::uint64_t>("0", 0));
  CHECK(takes<std::int64_t>("0", 0));
}

TEST_CASE("any byte ends an integer but a digit") {
  for (int c = 0; c < 256; ++c) {
    if (c >= '0' && c <= '9') continue;
    INFO(c);
    for (const char* const digits : {"1", "12", "1234567", "12345678", "123456789", "1234567890123456"}) {
      const std::string memory = padded(digits + std::string(1, static_cast<char>(c)));
      CHECK(take_integer<std::uint64_t>(memory.data()).value == std::stoull(digits));
      CHECK(take_integer<std::int64_t>(memory.data()).value == std::stoll(digits));
    }
  }
}

TEST_CASE("real numbers have the bits that the JSON parser gives them") {
  simdjson::dom::parser parser;
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    // All exponents, and those of counters; small significands give short texts and exact halves.
    auto value = std::bit_cast<double>(random());
    if (i % 2 == 0)
      value = static_cast<double>(random() >> random() % 64) / static_cast<double>(1 + random() % 1000);
    if (i % 5 == 0)
      value = std::ldexp(static_cast<double>(random() % 64), static_cast<int>(random() % 60) - 1100);
    if (!std::isfinite(value)) continue;
    for (const std::string& text :
         {written(value), written(value, std::chars_format::scientific),
          written(value, std::chars_format::fixed),
          written(value, std::chars_format::scientific, static_cast<int>(random() % 40))}) {
      INFO(text);
      if (text.find_first_of(".e") != std::string::npos) REQUIRE(takes_real(text));
      REQUIRE(reads_alike(parser, text));
    }
  }
}

TEST_CASE("only numbers of JSON are taken as real numbers") {
  simdjson::dom::parser parser;
  for (const char* const text : {"",
                                 "-",
                                 ".5",
                                 "-.5",
                                 "1.",
                                 "1.e5",
                                 "01.5",
                                 "-01",
                                 "1e",
                                 "1e+",
                                 "+1.5",
                                 "1.5.5",
                                 "0x1p3",
                                 "inf",
                                 "nan",
                                 "1e309",
                                 "-1e309",
                                 "-0",
                                 "1e1e1",
                                 "1,5",
                                 "1e-400",
                                 "-1e-400",
                                 "1e-99999999999999999999",
                                 "0e99999999999999999999",
                                 "0.0",
                                 "-0.0",
                                 "-0e5",
                                 "9007199254740993",
                                 "9007199254740993.0",
                                 "18446744073709551616",
                                 "1000000000000000000",
                                 "2.2250738585072011e-308",
                                 "4.9e-324",
                                 "2.4e-324"}) {
    INFO(text);
    CHECK(reads_alike(parser, text));
  }
  for (const char* const text :
       {"", "-", ".5", "1.", "01.5", "1e", "1e+", "1e309", "-0", "1000000000000000000"}) {
    INFO(text);
    CHECK_FALSE(takes_real(text));
  }
  for (const char* const text : {"0", "-7", "0.0", "-0.0", "1e5", "1E-5", "2.5e+10", "5e-324"}) {
    INFO(text);
    CHECK(takes_real(text));
  }
}
