// SPDX-License-Identifier: Apache-2.0
//
// Property: whatever bytes an application uses as names, a line is one line of valid
// JSON in valid UTF-8, our reader and another one agree on its text, and reading what
// was written gives the same line again.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/read_line.h"
#include "schema/write_line.h"
#include "tests/property/fuzz.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

namespace rangefinder::fuzz {
namespace {

/// Bytes of the kinds that have broken such code before, in any mixture.
std::string any_text(Random& random) {
  // clang-format off
  static const std::vector<std::string> kPieces{
      "\"", "\\", "/", "\n", "\r", "\t", std::string(1, '\0'), "\x1f", "\x7f", "</script>", "\\u0000",
      "{\"t\":1}",
      "\xc3\xa9", "\xe6\xa8\xa1", "\xf0\x9f\x94\xa5", "\xef\xbf\xbd", "\xe2\x80\xa8",  // valid
      "\xff", "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe6\xa8", "\xf0\x9f",
      "\xc3",  // not valid, with the line above
      "encoder", " ", "layers.0"};
  // clang-format on
  std::string text;
  const std::size_t pieces = random.below(random.one_in(50) ? 3000 : 12);
  for (std::size_t i = 0; i < pieces; ++i) {
    if (random.one_in(3)) {
      text += static_cast<char>(random.below(256));
    } else {
      text += random.element(kPieces);
    }
  }
  return text;
}

struct Written {
  std::string line;
  const char* key;  ///< of the text in the line
};

template <typename Record>
Written written(const Record& record, const char* key) {
  Written out{{}, key};
  write_line(out.line, record);
  return out;
}

/// A line of one of the kinds that hold an application's text.
Written any_line(Random& random) {
  const std::string text = any_text(random);
  const std::size_t kind = random.below(9);
  if (kind == 0) return written(PathRecord{2, 1, 0, text}, "name");
  if (kind == 1) return written(NameRecord{7, text}, "text");
  if (kind == 2) return written(ThreadRecord{4711, text}, "name");
  if (kind == 3) return written(DomainRecord{1, text}, "name");
  if (kind == 4) return written(CategoryRecord{0, 3, text}, "name");
  if (kind == 5) return written(KernelNameRecord{2, text, text, "own", "no known pattern"}, "demangled");
  if (kind == 6) return written(ModuleSourceRecord{1, "a" + text, 1, "", 0}, "class_file");
  if (kind == 7) {
    GpuRecord gpu;
    gpu.name = text;
    return written(gpu, "name");
  }
  Header header;
  header.counters = "off";
  header.host = any_text(random);
  header.command = {any_text(random), text};
  header.executable = text;
  return written(header, "executable");
}

class SegmentTextFuzzer final : public Fuzzer {
 public:
  std::string check(Random& random) override {
    const Written written = any_line(random);
    const std::string wrong = complaint(written);
    return wrong.empty() ? "" : wrong + "\n" + written.line;
  }

 private:
  std::string complaint(const Written& out) {
    const std::string& line = out.line;
    if (line.empty() || line.find('\n') != line.size() - 1) return "not exactly one line";
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) return "no valid JSON in valid UTF-8";  // the parser refuses other bytes
    for (const char c : line.substr(0, line.size() - 1)) {
      if (static_cast<unsigned char>(c) < 0x20) return "a control character that is not escaped";
    }
    if (!json.contains(out.key) || !json[out.key].is_string()) return std::string("no text at ") + out.key;

    Line read;
    if (!reader_.read(line, read)) return "our reader refuses it: " + reader_.error();
    const std::string again = test::line_of(read);
    return again == line ? "" : "read and written again it is another line: " + again;
  }

  LineReader reader_;
};

}  // namespace

MakeFuzzer* const make_segment_text = &made<SegmentTextFuzzer>;

}  // namespace rangefinder::fuzz
