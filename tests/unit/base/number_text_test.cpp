// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/number_text.h"

#include "tests/catch.h"

using namespace rangefinder;

TEST_CASE("counts have thousands separators") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(4'812) == "4,812");
  CHECK(count_text(1'234'567'890) == "1,234,567,890");
}

TEST_CASE("durations have three digits and a unit") {
  CHECK(duration_text(0) == "0 ns");
  CHECK(duration_text(999) == "999 ns");
  CHECK(duration_text(1'000) == "1.00 us");
  CHECK(duration_text(48'120'000) == "48.1 ms");
  CHECK(duration_text(481'200'000) == "481 ms");
  CHECK(duration_text(5'000'000'000'000) == "5,000 s");
}

TEST_CASE("rounding up changes the unit, not the number of digits") {
  CHECK(duration_text(999'499) == "999 us");
  CHECK(duration_text(999'999) == "1.00 ms");
  CHECK(duration_text(9'999) == "10.0 us");
  CHECK(duration_text(99'990) == "100 us");
}

TEST_CASE("bytes are decimal") {
  CHECK(bytes_text(999) == "999 B");
  CHECK(bytes_text(1'048'576) == "1.05 MB");
  CHECK(bytes_text(8'589'934'592) == "8.59 GB");
}

TEST_CASE("rates are always in GB/s") {
  CHECK(rate_text(3.912e12) == "3,912 GB/s");
  CHECK(rate_text(1.2e8) == "0.12 GB/s");
}

TEST_CASE("one is singular") {
  CHECK(counted_text(1, "copy", "copies") == "1 copy");
  CHECK(counted_text(2'000, "copy", "copies") == "2,000 copies");
}

TEST_CASE("control characters cannot reach the terminal") {
  CHECK(printable("a\x1b[31mb\n\x7f") == "a?[31mb??");
  CHECK(printable("caf\xc3\xa9") == "caf\xc3\xa9");
  CHECK(printable("\xc2\x9b"
                  "31m") == "?31m");
}

TEST_CASE("texts are cut by characters, not bytes") {
  CHECK(cut_front("model/decoder", 8) == "…decoder");
  CHECK(cut_back("model/decoder", 6) == "model…");
  CHECK(cut_front("\xc3\xa9\xc3\xa9\xc3\xa9", 2) == "…\xc3\xa9");
  CHECK(cut_back("\xc3\xa9\xc3\xa9\xc3\xa9", 2) == "\xc3\xa9…");
  CHECK(cut_back("short", 5) == "short");
  CHECK(text_width("\xc3\xa9…a") == 3);
}

TEST_CASE("wrapped lines keep a number beside its unit, and break nothing that fits") {
  CHECK(wrapped_text("up to 942 us, 41 % of an iteration", 16) == "up to 942 us,\n41 % of an\niteration\n");
  CHECK(wrapped_text("up to  942 us", 0, "  ") == "  up to 942 us\n");
  CHECK(wrapped_text("takes 12 %", 9, "  ") == "  takes\n  12 %\n");
  CHECK(wrapped_text(" \n", 10).empty());
  CHECK(wrapped_lines("  22  samples\n  a long line of text\nend", 14) ==
        "  22  samples\n  a long line\n  of text\nend");
}

TEST_CASE("errors have two significant digits at most") {
  CHECK(error_text(0) == "0.00 %");
  CHECK(error_text(0.42) == "0.42 %");
  CHECK(error_text(0.996) == "1.0 %");
  CHECK(error_text(9.94) == "9.9 %");
  CHECK(error_text(9.96) == "10 %");
  CHECK(error_text(999) == "999 %");
  CHECK(error_text(999.6) == ">999 %");
}
