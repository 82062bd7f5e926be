// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/name_table.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using rangefinder::kOtherName;
using rangefinder::Loss;
using rangefinder::LossLedger;
using rangefinder::NameTable;

TEST_CASE("equal texts have the same id, and the id gives the text") {
  LossLedger loss;
  NameTable names(loss);

  const std::uint32_t encoder = names.intern("encoder");
  const std::uint32_t decoder = names.intern("decoder");

  CHECK(encoder != decoder);
  CHECK(names.intern(std::string("enc") + "oder") == encoder);
  CHECK(names.text(encoder) == "encoder");
  CHECK(names.text(decoder) == "decoder");
  CHECK(names.size() == 3);  // with "(other)"
}

TEST_CASE("the empty text is a name; id 0 is none") {
  LossLedger loss;
  NameTable names(loss);

  const std::uint32_t empty = names.intern("");

  CHECK(empty > kOtherName);
  CHECK(names.intern({}) == empty);
  CHECK(names.text(empty).empty());
  CHECK(names.text(0).empty());
  CHECK(names.text(4711).empty());
}

TEST_CASE("a text may contain zeros and invalid UTF-8") {
  using namespace std::string_view_literals;
  LossLedger loss;
  NameTable names(loss);

  const std::uint32_t id = names.intern("a\0b\xff"sv);

  CHECK(names.text(id) == "a\0b\xff"sv);
  CHECK(names.intern("a\0c\xff"sv) != id);
}

TEST_CASE("the text (other) has the id kOtherName") {
  LossLedger loss;
  NameTable names(loss);

  CHECK(names.text(kOtherName) == "(other)");
  CHECK(names.intern("(other)") == kOtherName);
  CHECK(loss.get(Loss::names_folded) == 0);
}

TEST_CASE("texts of every length around the steps of the hash are distinguished") {
  LossLedger loss;
  NameTable names(loss);
  std::vector<std::uint32_t> ids;
  std::string text;
  for (int i = 0; i < 70; ++i) ids.push_back(names.intern(text += 'x'));

  text.clear();
  for (const std::uint32_t id : ids) CHECK(names.intern(text += 'x') == id);

  CHECK(names.size() == 71);
}

TEST_CASE("texts over 16 KiB that differ at their end stay two, cut and counted once each") {
  LossLedger loss;
  NameTable names(loss);
  const std::string text(100'000, 'n');

  const std::uint32_t first = names.intern(text + '1'), second = names.intern(text + '2');

  CHECK(first != second);
  CHECK(names.text(first).size() == NameTable::kMaxNameBytes);
  CHECK(names.text(first).starts_with(text.substr(0, 16'000) + "nnn"));
  CHECK(names.text(first) != names.text(second));
  CHECK(names.intern(text + '1') == first);
  CHECK(names.intern(names.text(first)) == first);
  CHECK(loss.get(Loss::names_truncated) == 2);
}

TEST_CASE("a text is not cut inside of a character") {
  LossLedger loss;
  NameTable names(loss);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string text(shift, 'n');
    for (int i = 0; i < 10'000; ++i) text += "\U0001F600";

    const std::string_view kept = names.text(names.intern(text));

    CHECK((kept.find('~') - shift) % 4 == 0);
  }
}

TEST_CASE("after 262,144 names new texts are (other) and counted; known ones keep their ids") {
  LossLedger loss;
  const auto names = std::make_unique<NameTable>(loss);
  for (std::uint32_t i = 2; i <= NameTable::kMaxNames; ++i) REQUIRE(names->intern(std::to_string(i)) == i);

  CHECK(names->intern("one too many") == kOtherName);
  CHECK(names->intern("one too many") == kOtherName);
  CHECK(loss.get(Loss::names_folded) == 2);
  CHECK(names->intern("4711") == 4711);
  CHECK(names->text(262'144) == "262144");
}

TEST_CASE("after 32 MiB of text new texts are (other) and counted") {
  LossLedger loss;
  const auto names = std::make_unique<NameTable>(loss);
  std::string text(NameTable::kMaxNameBytes, 't');
  constexpr std::size_t kFit = NameTable::kMaxTextBytes / NameTable::kMaxNameBytes;
  for (std::size_t i = 0; i < kFit; ++i) {
    text.replace(0, 8, std::to_string(10'000'000 + i));
    REQUIRE(names->intern(text) != kOtherName);
  }

  CHECK(names->intern("t") == kOtherName);
  CHECK(loss.get(Loss::names_folded) == 1);
}

TEST_CASE("threads that intern the same texts get the same ids while others read them") {
  constexpr std::uint32_t kTexts = 6000;
  LossLedger loss;
  const auto names = std::make_unique<NameTable>(loss);
  std::vector<std::vector<std::uint32_t>> ids(2);
  std::vector<std::thread> writers;
  for (auto& mine : ids) {
    writers.emplace_back([&names, &mine] {
      for (std::uint32_t i = 0; i < kTexts; ++i) mine.push_back(names->intern("text " + std::to_string(i)));
    });
  }
  std::uint32_t wrong = 0;
  while (names->size() < kTexts + 1) {
    const std::uint32_t last = names->size();
    if (last > kOtherName) wrong += !names->text(last).starts_with("text ");
  }
  for (std::thread& writer : writers) writer.join();

  CHECK(wrong == 0);
  CHECK(ids[0] == ids[1]);
  CHECK(names->size() == kTexts + 1);
}
