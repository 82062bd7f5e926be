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
#include "tests/unit/analysis/read/trace_on_disk.h"

namespace rangefinder::fuzz {
namespace {

/// Bytes of the kinds that have broken such code before, in any mixture.
std::string any_text(Random& random) {
  static const std::vector<std::string> kPieces{"\"",
                                                "\\",
                                                "/",
                                                "\n",
                                                "\r",
                                                "\t",
                                                std::string(1, '\0'),
                                                "\x1f",
                                                "\x7f",
                                                "</script>",
                                                "\\u0000",
                                                "{\"t\":1}",
                                                "\xc3\xa9",
                                                "\xe6\xa8\xa1",
                                                "\xf0\x9f\x94\xa5",
                                                "\xef\xbf\xbd",
                                                "\xe2\x80\xa8",  // valid
                                                "\xff",
                                                "\x80",
                                                "\xc0\xaf",
                                                "\xed\xa0\x80",
                                                "\xf4\x90\x80\x80",
                                                "\xe6\xa8",
                                                "\xf0\x9f",
                                                "\xc3",  // not valid
                                                "encoder",
                                                " ",
                                                "layers.0"};
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

/// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
    };
    const unsigned lead = byte(i);
    std::size_t length = 0;
    unsigned least = 0, code = 0;
    if (lead < 0x80)
      length = 1, code = lead;
    else if (lead >> 5 == 0x6)
      length = 2, least = 0x80, code = lead & 0x1f;
    else if (lead >> 4 == 0xe)
      length = 3, least = 0x800, code = lead & 0x0f;
    else if (lead >> 3 == 0x1e)
      length = 4, least = 0x10000, code = lead & 0x07;
    else
      return false;
    for (std::size_t k = 1; k < length; ++k) {
      if (byte(i + k) >> 6 != 2) return false;
      code = code << 6 | (byte(i + k) & 0x3f);
    }
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return false;
    i += length;
  }
  return true;
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
  switch (random.below(8)) {
    case 0:
      return written(PathRecord{2, 1, 0, text}, "name");
    case 1:
      return written(NameRecord{7, text}, "text");
    case 2:
      return written(ThreadRecord{4711, text}, "name");
    case 3:
      return written(DomainRecord{1, text}, "name");
    case 4:
      return written(CategoryRecord{0, 3, text}, "name");
    case 5:
      return written(KernelNameRecord{2, text, text, "own", "no known pattern"}, "demangled");
    case 6: {
      GpuRecord gpu;
      gpu.name = text;
      return written(gpu, "name");
    }
    default: {
      Header header;
      header.counters = "off";
      header.host = any_text(random);
      header.command = {any_text(random), text};
      header.executable = text;
      return written(header, "executable");
    }
  }
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
    if (!is_utf8(line)) return "no valid UTF-8";
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) return "no valid JSON";
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

std::unique_ptr<Fuzzer> make_segment_text() {
  return std::make_unique<SegmentTextFuzzer>();
}

}  // namespace rangefinder::fuzz
