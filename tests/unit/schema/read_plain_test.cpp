// SPDX-License-Identifier: Apache-2.0
#include "schema/read_plain.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"

using namespace rangefinder;
using test::line_of;

namespace {

const std::string kKernel =
    R"({"t":"kernel","start":-12,"end":999999999999999999,"gpu":1,"ctx":2,"stream":7,"corr":4294967295,)"
    R"("path":3,"range":4,"graph":5,"node":6,"captured":true,"name":8,"config":9})";
const std::string kLaunch =
    R"({"t":"launch","start":1,"end":2,"thread":3,"path":4,"range":5,"api":"cuLaunchKernel","corr":6,"ctx":7,"result":-701})";
const std::string kRange = R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"domain":5,"path":6})";
const std::vector<std::string> kLines{
    kKernel,
    R"({"t":"kernel","start":0,"end":0,"gpu":0,"ctx":0,"stream":0,"corr":0,"name":1,"config":1})",
    kLaunch,
    R"({"t":"launch","start":1,"end":2,"thread":3,"api":"","corr":0})",
    kRange,
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"path":6})",
    R"({"t":"range","start":1,"end":2,"id":3,"thread":4,"name":5,"path":6,"end_thread":7})",
    R"({"t":"kernel","gpu":0,"ctx":0,"stream":0,"corr":0,"name":1,"config":1})",
};

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

/// Returns "" or the difference: the plain reader may accept only lines that the parser accepts, with the
/// same result.
std::string difference(const std::string& text) {
  LineReader reader;
  TextPool pool;
  Line plain, parsed;
  if (!read_plain(text, pool, plain)) return {};
  if (!reader.read(" " + text, parsed)) return "the parser refuses " + text + ": " + reader.error();
  return line_of(plain) == line_of(parsed) ? "" : text + " is read as " + line_of(plain);
}

}  // namespace

TEST_CASE("lines in the writer's form are read without the parser, to the same bytes") {
  for (const std::string& text : kLines) {
    INFO(text);
    TextPool pool;
    Line line;
    REQUIRE(read_plain(text, pool, line));
    CHECK(line_of(line) == text + "\n");
    CHECK(takes(text + "\n"));
  }
}

TEST_CASE("lines in another form are left to the parser") {
  CHECK_FALSE(takes(""));
  CHECK_FALSE(takes(" " + kKernel));
  CHECK_FALSE(takes(kKernel + " "));
  CHECK_FALSE(takes(kKernel + "\n\n"));
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
  CHECK_FALSE(takes(replaced(kLaunch, "cuLaunchKernel", "cu\\u004caunchKernel")));
  CHECK_FALSE(takes(replaced(kLaunch, "cuLaunchKernel", "cuLaunchKernel\xff")));
  CHECK_FALSE(takes(replaced(kRange, "\"end\":2", "\"end\":null")));
}

TEST_CASE("a line with any byte changed, or cut anywhere, is read like the parser reads it") {
  static const std::string kBytes = std::string("09-+.eE,:\"{}[]\\ tn\n\x7f\xff\xc3", 23) + '\0';
  for (const std::string& text : kLines) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string wrong = difference(text.substr(0, at));
      for (const char byte : kBytes) {
        std::string changed = text, longer = text;
        changed[at] = byte;
        longer.insert(at, 1, byte);
        if (wrong.empty()) wrong = difference(changed);
        if (wrong.empty()) wrong = difference(longer);
      }
      INFO(wrong);
      REQUIRE(wrong.empty());
    }
  }
}
