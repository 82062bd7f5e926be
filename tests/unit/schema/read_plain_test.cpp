// SPDX-License-Identifier: Apache-2.0
#include "schema/read_plain.h"

#include <set>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/schema/plain_lines.h"

using namespace rangefinder;
using test::line_of;

namespace {

const std::string kKernel = plain_lines::kForms[0];
const std::string kLaunch = plain_lines::kForms[4];
const std::string kRange = plain_lines::kForms[7];

bool takes(const std::string& text) {
  TextPool pool;
  Line line;
  return read_plain(text, pool, line);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// The plain reader may accept only lines that the parser accepts, with the same result.
class Comparison {
 public:
  void check(const std::string& text) {
    Line plain, parsed;
    if (!read_plain(text, pool_, plain)) return;
    ++accepted_;
    INFO(text);
    // With a space in front only the JSON parser takes a line.
    if (!reader_.read(" " + text, parsed)) {
      INFO(reader_.error());
      FAIL("the parser refuses it");
    }
    if (plain_lines::content_of(plain) != plain_lines::content_of(parsed)) {
      CHECK(plain_lines::content_of(plain) == plain_lines::content_of(parsed));
    }
  }
  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_; }

 private:
  LineReader reader_;
  TextPool pool_;
  std::uint64_t accepted_ = 0;
};

}  // namespace

TEST_CASE("lines in the writer's form are read without the parser, to the same bytes") {
  std::set<std::string_view> kinds;
  for (const std::string& text : plain_lines::lines()) {
    INFO(text);
    TextPool pool;
    Line line;
    REQUIRE(read_plain(text, pool, line));
    CHECK(line_of(line) == text + "\n");
    CHECK(takes(text + "\n"));
    Comparison().check(text);
    kinds.insert(line_kind(line));
  }
  CHECK(kinds.size() == 18);
}

TEST_CASE("lines in another form are left to the parser") {
  CHECK_FALSE(takes(""));
  CHECK_FALSE(takes("\n"));
  CHECK_FALSE(takes("{\"t\":\"\n"));
  CHECK_FALSE(takes(" " + kKernel));
  CHECK_FALSE(takes(kKernel + " "));
  CHECK_FALSE(takes(kKernel + "\n\n"));
  CHECK_FALSE(takes(kKernel + "\n" + kKernel));
  CHECK_FALSE(takes(replaced(kKernel, "\"kernel\"", "\"kernels\"")));
  CHECK_FALSE(takes(replaced(kKernel, "\"gpu\":1,", "")));
  CHECK_FALSE(takes(replaced(kKernel, "\"gpu\":1", "\"gpu\":01")));
  CHECK_FALSE(takes(replaced(kKernel, "\"gpu\":1", "\"gpu\":-1")));
  CHECK_FALSE(takes(replaced(kKernel, "\"gpu\":1", "\"gpu\":1.0")));
  CHECK_FALSE(takes(replaced(kKernel, "\"gpu\":1", "\"gpu\":1e0")));
  CHECK_FALSE(takes(replaced(kKernel, "\"start\":-12", "\"start\":-0")));
  CHECK_FALSE(takes(replaced(kKernel, "4294967295", "4294967296")));
  CHECK_FALSE(takes(replaced(kKernel, "999999999999999999", "1000000000000000000")));
  CHECK_FALSE(takes(replaced(kKernel, ",\"name\"", ",\"new\":1,\"name\"")));
  CHECK_FALSE(takes(replaced(kKernel, "\"captured\":true", "\"captured\":false")));
  CHECK_FALSE(takes(replaced(kKernel, "}", ",\"config\":9}")));
  CHECK_FALSE(takes(replaced(kLaunch, "cuLaunchKernel", "cu\\u004caunchKernel")));
  CHECK_FALSE(takes(replaced(kLaunch, "cuLaunchKernel", "cuLaunchKernel\xff")));
  CHECK_FALSE(takes(replaced(kRange, "\"end\":2", "\"end\":nul")));
}

TEST_CASE("an exact line whose kind does not fit its keys is left to the parser") {
  const std::string host = R"({"t":"exact","start":1,"end":2,"thread":3)", reason = R"(,"unmeasured":"x"})";
  const std::string call = R"(,"api":"a","corr":6)",
                    counts = R"(,"counter_range":1,"launches":0,"kernels":0)";
  REQUIRE(takes(host + call + R"(,"kind":"kernel","gpu":0)" + reason));
  REQUIRE(takes(host + R"(,"kind":"range","gpu":0)" + counts + reason));

  CHECK_FALSE(takes(host + R"(,"kind":"kernel","gpu":0)" + reason));
  CHECK_FALSE(takes(host + call + R"(,"kind":"range","gpu":0)" + counts + reason));
}

TEST_CASE("the same sample twice, or samples in another order, are left to the parser") {
  const std::string line = R"({"t":"samples","gpu":1,"runs":[[0,9,17]],"l2":{"0":5,"16":7}})";
  REQUIRE(takes(line));

  CHECK_FALSE(takes(replaced(line, "\"16\"", "\"0\"")));
  CHECK_FALSE(takes(replaced(replaced(line, "\"0\"", "\"9\""), "\"16\"", "\"1\"")));
  CHECK_FALSE(takes(replaced(line, "\"16\"", "\"17\"")));
  CHECK_FALSE(takes(replaced(line, "\"16\"", "\"016\"")));
}

TEST_CASE("every byte in a text is read like the parser reads it") {
  Comparison comparison;
  for (int c = 0; c < 256; ++c) {
    for (std::size_t before = 0; before < 9; ++before) {
      const std::string name = std::string(before, 'x') + static_cast<char>(c);
      comparison.check(R"({"t":"path","id":1,"parent":0,"name":")" + name + "\"}");
      comparison.check(replaced(kLaunch, "cuLaunchKernel", name + "cu"));
    }
  }
  CHECK(comparison.accepted() > 1'000);
}

TEST_CASE("a line with any byte changed, or cut anywhere, is read like the parser reads it") {
  static const std::string kBytes = std::string("09-+.eE,:\"{}[]\\ tn\n\x7f\xff\xc3", 23) + '\0';
  Comparison comparison;
  for (const std::string& text : plain_lines::lines()) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      comparison.check(text.substr(0, at));
      for (const char byte : kBytes) {
        std::string changed = text, longer = text;
        changed[at] = byte;
        longer.insert(at, 1, byte);
        comparison.check(changed);
        comparison.check(longer);
      }
    }
  }
  CHECK(comparison.accepted() > 20'000);
}

TEST_CASE("a line with other keys, values, spaces or escapes is read like the parser reads it") {
  Comparison comparison;
  std::uint64_t changes = 0;
  for (const std::string& text : plain_lines::lines()) {
    plain_lines::for_each_change(text, [&](const std::string& changed) {
      ++changes;
      comparison.check(changed);
    });
  }
  CHECK(comparison.accepted() > 20'000);
  CHECK(changes > 5 * comparison.accepted());
}

TEST_CASE("long lines are read like short ones") {
  for (const std::size_t size : {900u, 1'000u, 1'023u, 1'024u, 1'025u, 1'100u, 100'000u}) {
    std::string text = R"({"t":"path","id":1,"parent":0,"name":""})";
    text.insert(text.size() - 2, size - text.size(), 'x');
    INFO(size);
    REQUIRE(takes(text));
    Comparison().check(text);
  }
}
