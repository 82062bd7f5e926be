// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/iteration_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace rangefinder {
namespace {

/// Before a number. A suffix counts too: "ProfilerStep", "minibatch".
constexpr std::array<std::string_view, 4> kSuffixes{"iteration", "step", "batch", "epoch"};
constexpr std::array<std::string_view, 5> kWords{"iter", "frame", "request", "token", "run"};
/// The whole name, if it has no number.
constexpr std::array<std::string_view, 10> kUnnumbered{"iteration",  "iter",          "step",  "profilerstep",
                                                       "train_step", "training_step", "batch", "minibatch",
                                                       "frame",      "epoch"};
constexpr std::string_view kSeparators = " _-#:=[(/";
constexpr std::size_t kMaxSeparators = 3;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "Steps" ─▶ "step", "epochs" ─▶ "epoch", "batches" ─▶ "batch".
std::string singular(std::string_view word) {
  std::string out = lower(word);
  if (out.ends_with("batches")) return out.substr(0, out.size() - 2);
  if (out.ends_with('s')) out.pop_back();
  return out;
}

/// The word that ends before the number at `at`, without the separators in between.
std::string_view word_before(std::string_view name, std::size_t at) {
  std::size_t end = at;
  while (end > 0 && at - end < kMaxSeparators && kSeparators.find(name[end - 1]) != std::string_view::npos)
    --end;
  std::size_t begin = end;
  while (begin > 0 && is_letter(name[begin - 1])) --begin;
  return name.substr(begin, end - begin);
}

bool is_word(const std::string& word) {
  const auto ends_word = [&word](std::string_view suffix) { return word.ends_with(suffix); };
  return std::any_of(kSuffixes.begin(), kSuffixes.end(), ends_word) ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

std::optional<IterationName> iteration_name(std::string_view name) {
  IterationName out;
  bool all_epochs = true;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == at && name[at] == '*') end = at + 1;  // folded before
    if (end == at) {
      out.folded += name[at++];
      continue;
    }
    const std::string word = singular(word_before(name, at));
    if (is_word(word) && (end == name.size() || !is_letter(name[end]))) {
      out.numbered = true;
      all_epochs = all_epochs && word.ends_with("epoch");
      out.folded += '*';
    } else {
      out.folded += name.substr(at, end - at);
    }
    at = end;
  }
  if (out.numbered) {
    out.epoch = all_epochs;
    return out;
  }
  const std::string whole = lower(name);
  if (std::find(kUnnumbered.begin(), kUnnumbered.end(), whole) == kUnnumbered.end()) return std::nullopt;
  out.epoch = whole == "epoch";
  return out;
}

std::string last_number_folded(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  if (end == 0) return std::string(name);
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  return std::string(name.substr(0, begin)) + "*" + std::string(name.substr(end));
}

namespace {

constexpr std::string_view kDigits = "0123456789";

/// "12" ─▶ "*", "layer 12", "layer_12" ─▶ "layer *", "layer_*". "conv1" stays: such names differ in more.
std::string folded(std::string_view name) {
  const std::size_t last = name.find_last_not_of(kDigits);
  const std::size_t from = last == std::string_view::npos ? 0 : last + 1;
  const bool parted = from == 0 || std::string_view(" _-.").find(name[from - 1]) != std::string_view::npos;
  if (from == name.size() || !parted) return std::string(name);
  return std::string(name.substr(0, from)) + "*";
}

}  // namespace

std::string numbers_folded(std::string_view path_text) {
  std::string out;
  while (true) {
    const std::size_t slash = path_text.find('/');
    out += folded(path_text.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    out += '/';
    path_text.remove_prefix(slash + 1);
  }
}

}  // namespace rangefinder
