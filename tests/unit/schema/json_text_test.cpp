// SPDX-License-Identifier: Apache-2.0
#include "schema/json_text.h"

#include <bit>
#include <limits>
#include <random>
#include <string>

#include <simdjson.h>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

const std::string kBad = "\xEF\xBF\xBD";

std::string escaped(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string valid(std::string_view text) {
  std::string out;
  append_valid_utf8(out, text);
  return out;
}

template <typename Real>
std::string real(Real value) {
  std::string out;
  append_json_real(out, value);
  return out;
}

}  // namespace

TEST_CASE("plain ASCII stays as it is, between quotes") {
  CHECK(escaped("void gemm<float, 4>(float const*)") == "\"void gemm<float, 4>(float const*)\"");
  CHECK(escaped("") == "\"\"");
}

TEST_CASE("quotes, backslashes and control characters are escaped") {
  CHECK(escaped("a\"b\\c") == R"("a\"b\\c")");
  CHECK(escaped("\b\f\n\r\t") == R"("\b\f\n\r\t")");
  CHECK(escaped(std::string_view("\0\x01\x1f\x7f", 4)) == R"("\u0000\u0001\u001f\u007f")");
}

TEST_CASE("valid UTF-8 of every length stays as it is") {
  const std::string text =
      "\xC2\x80 \xC3\xA9 \xE0\xA0\x80 \xE6\xA8\xA1 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF"
      " \xF0\x90\x80\x80 \xF0\x9F\x9A\x80 \xF4\x8F\xBF\xBF";
  CHECK(escaped(text) == "\"" + text + "\"");
}

TEST_CASE("every byte that is not part of a valid sequence becomes U+FFFD") {
  CHECK(valid("a\x80z") == "a" + kBad + "z");                     // lone continuation
  CHECK(valid("\xC0\xAF") == kBad + kBad);                        // overlong '/'
  CHECK(valid("\xE0\x9F\xBF") == kBad + kBad + kBad);             // overlong, 3 bytes
  CHECK(valid("\xF0\x8F\xBF\xBF") == kBad + kBad + kBad + kBad);  // overlong, 4 bytes
  CHECK(valid("\xED\xA0\x80") == kBad + kBad + kBad);             // surrogate
  CHECK(valid("\xF4\x90\x80\x80") == kBad + kBad + kBad + kBad);  // over U+10FFFF
  CHECK(valid("\xF5\xFF\xFE") == kBad + kBad + kBad);             // never valid
  CHECK(valid("\xE6\xA8") == kBad + kBad);                        // cut off at the end
  CHECK(valid("\xE6\xA8\"") == kBad + kBad + "\"");               // cut off by ASCII
  CHECK(valid("\xF0\x9F\x9A\xC3\xA9") == kBad + kBad + kBad + "\xC3\xA9");
}

TEST_CASE("any bytes become JSON that reads back as the valid text") {
  std::mt19937_64 random(7);
  simdjson::dom::parser parser;
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    // Mostly bytes that start or continue sequences.
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? random() % 256 : 0x80 + random() % 128);

    std::string_view read;
    REQUIRE_FALSE(parser.parse(escaped(text)).get(read));

    REQUIRE(read == valid(text));
  }
}

TEST_CASE("reals are the shortest text that reads back the same") {
  CHECK(real(0.1) == "0.1");
  CHECK(real(0.1f) == "0.1");
  CHECK(real(-2.5) == "-2.5");
  CHECK(real(1e300) == "1e+300");
  CHECK(real(3.0) == "3");
}

TEST_CASE("reals that JSON or an integer parser cannot represent are written in another form") {
  CHECK(real(std::numeric_limits<double>::quiet_NaN()) == "\"nan\"");
  CHECK(real(std::numeric_limits<double>::infinity()) == "\"inf\"");
  CHECK(real(-std::numeric_limits<float>::infinity()) == "\"-inf\"");
  CHECK(real(-0.0) == "-0e+00");
  CHECK(real(36893488147419103232.0) == "3.6893488147419103e+19");  // 2^65: not a 64-bit integer
}

TEST_CASE("any double and any float read back bit by bit") {
  std::mt19937_64 random(11);
  simdjson::dom::parser parser;
  for (int round = 0; round < 20000; ++round) {
    const auto bits = random();
    const auto wide = std::bit_cast<double>(bits);
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    double read = 0;
    if (wide - wide == 0) {
      REQUIRE_FALSE(parser.parse(real(wide)).get(read));
      REQUIRE(std::bit_cast<std::uint64_t>(read) == bits);
    }
    if (narrow - narrow == 0) {
      REQUIRE_FALSE(parser.parse(real(narrow)).get(read));
      REQUIRE(static_cast<float>(read) == narrow);
    }
  }
}

TEST_CASE("an object omits optional values that are 0, empty or false") {
  std::string out;
  JsonObject object(out);
  object.nonzero("a", 0);
  object.nonempty("b", "");
  object.flag("c", false);
  object.nonzero_handle("d", 0);
  object.number("e", std::numeric_limits<std::uint64_t>::max());
  object.nonzero("f", std::numeric_limits<std::int64_t>::min());
  object.flag("g", true);
  object.handle("h", 0xABCDEF);
  object.null("i");
  append_json_string(object.open_named("\"j\""), "k");
  object.close();

  CHECK(
      out ==
      R"({"e":18446744073709551615,"f":-9223372036854775808,"g":true,"h":"0xabcdef","i":null,"\"j\"":"k"})");
}
