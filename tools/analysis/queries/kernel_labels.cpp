// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/kernel_labels.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>

namespace rangefinder {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr int kMaxDepth = 64;  // of template arguments; deeper names stay as they are

/// A name with its template arguments, without namespaces.
struct Name {
  std::string text;
  std::vector<Name> arguments;

  [[nodiscard]] std::string shown() const;
  bool operator==(const Name& other) const = default;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "<" : ", ") + part;
  return out.empty() ? out : out + ">";
}

std::string Name::shown() const {
  std::vector<std::string> parts;
  for (const Name& argument : arguments) parts.push_back(argument.shown());
  return text + joined(parts);
}

/// Reads one demangled name. Fails on what is not C++.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  std::optional<Name> read() {
    Name out = name(0);
    return failed_ || out.text.empty() ? std::nullopt : std::optional(std::move(out));
  }

 private:
  [[nodiscard]] std::string_view tail() const { return text_.substr(at_); }
  [[nodiscard]] bool ended() const { return at_ >= text_.size(); }

  /// Moves behind the bracket that closes the one here.
  void skip_brackets() {
    const char opening = text_[at_];
    const char closing = opening == '(' ? ')' : opening == '{' ? '}' : ']';
    int open = 0;
    for (; !ended(); ++at_) {
      if (text_[at_] == opening) ++open;
      if (text_[at_] == closing && --open == 0) {
        ++at_;
        return;
      }
    }
    failed_ = true;
  }

  std::vector<Name> arguments(int depth) {
    std::vector<Name> out;
    while (!failed_ && !ended() && text_[at_] != '>') {
      ++at_;  // the `<` or a comma
      out.push_back(name(depth + 1));
    }
    failed_ = failed_ || ended();
    ++at_;
    return out;
  }

  /// Up to the end of the text, or of a template argument. Parameters and what is behind them are skipped.
  Name name(int depth) {
    Name out;
    failed_ = failed_ || depth > kMaxDepth;
    bool complete = false;
    while (!failed_ && !ended() && !(depth > 0 && (text_[at_] == ',' || text_[at_] == '>'))) {
      const char c = text_[at_];
      if (tail().starts_with(kAnonymous)) {
        at_ += kAnonymous.size();
      } else if (c == '(' || c == '{' || c == '[') {
        skip_brackets();
        complete = complete || !out.text.empty();  // otherwise a cast: (kind)0
      } else if (c == '<' && (!out.text.empty() || complete)) {
        std::vector<Name> found = arguments(depth);
        if (!complete) out.arguments = std::move(found);
      } else if (tail().starts_with("::")) {
        at_ += 2;
        complete = complete || tail().starts_with("operator");
        if (!complete) out = {};
        if (complete) skip_operator();
      } else if (c == ' ' && depth == 0 && !complete) {
        out = {};  // what came was the return type
        ++at_;
      } else {
        if (!complete) out.text += c;
        ++at_;
      }
    }
    tidy(out.text);
    return out;
  }

  /// `operator<` and `operator>` hold no brackets.
  void skip_operator() {
    static constexpr std::string_view kOperator = "operator";
    if (!tail().starts_with(kOperator)) return;
    at_ += kOperator.size();
    while (!ended() && (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '=')) ++at_;
  }

  /// "__half" is "half", "3ul" is "3".
  static void tidy(std::string& text) {
    while (!text.empty() && text.back() == ' ') text.pop_back();
    text.erase(0, text.find_first_not_of(' '));
    if (text.starts_with("__nv_")) text.erase(0, 5);
    if (text.starts_with("__")) text.erase(0, 2);
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return;
    while (text.back() == 'u' || text.back() == 'l') text.pop_back();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

using Names = std::vector<const Name*>;
using Parts = std::vector<std::vector<std::string>>;

/// Adds to `parts` what differs in the arguments of `names`, whose texts are equal.
void add_differences(const Names& names, Parts& parts) {
  const std::size_t count = names.front()->arguments.size();
  const bool same_count = std::all_of(names.begin(), names.end(),
                                      [count](const Name* name) { return name->arguments.size() == count; });
  if (!same_count) {
    for (std::size_t i = 0; i < names.size(); ++i)
      for (const Name& argument : names[i]->arguments) parts[i].push_back(argument.shown());
    return;
  }
  for (std::size_t position = 0; position < count; ++position) {
    Names here;
    for (const Name* const name : names) here.push_back(&name->arguments[position]);
    const Name& first = *here.front();
    if (std::all_of(here.begin(), here.end(), [&first](const Name* name) { return *name == first; }))
      continue;
    if (std::all_of(here.begin(), here.end(),
                    [&first](const Name* name) { return name->text == first.text; })) {
      add_differences(here, parts);
      continue;
    }
    for (std::size_t i = 0; i < here.size(); ++i) parts[i].push_back(here[i]->shown());
  }
}

void drop_kernel_ending(std::string& name) {
  static constexpr std::string_view kEnding = "_kernel";
  if (name.size() > kEnding.size() && name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
}

/// Numbers labels that occur more than once.
void number(std::vector<std::string>& labels) {
  std::map<std::string, std::size_t> uses, next;
  for (const std::string& label : labels) ++uses[label];
  for (std::string& label : labels) {
    if (uses[label] > 1) label += " #" + std::to_string(++next[label]);
  }
}

/// Position behind the bracket that closes the one at `open`; npos: it is not closed.
std::size_t behind_closing(std::string_view text, std::size_t open) {
  const char opening = text[open];
  const char closing = opening == '(' ? ')' : opening == '<' ? '>' : opening == '[' ? ']' : '}';
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    const bool arrow = closing == '>' && i > 0 && text[i] == '>' && text[i - 1] == '-';
    if (text[i] == opening) ++depth;
    if (text[i] == closing && !arrow && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Length of `operator<`, `operator()`, … at the start of `text`; otherwise 0.
std::size_t operator_length(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kOperators{
      "operator()", "operator<=>", "operator<<", "operator>>",
      "operator<=", "operator>=",  "operator<",  "operator>"};
  for (const std::string_view name : kOperators) {
    if (text.starts_with(name)) return name.size();
  }
  return 0;
}

}  // namespace

std::vector<std::string> kernel_labels(const std::vector<std::string_view>& demangled) {
  std::vector<std::string> labels(demangled.begin(), demangled.end());
  std::vector<Name> names(demangled.size());
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < demangled.size(); ++i) {
    std::optional<Name> read = NameReader(demangled[i]).read();
    if (!read) continue;
    names[i] = std::move(*read);
    drop_kernel_ending(names[i].text);
    groups[names[i].text].push_back(i);
  }
  for (const auto& [text, members] : groups) {
    Names same;
    for (const std::size_t i : members) same.push_back(&names[i]);
    Parts parts(members.size());
    add_differences(same, parts);
    for (std::size_t i = 0; i < members.size(); ++i) labels[members[i]] = text + joined(parts[i]);
  }
  number(labels);
  return labels;
}

std::string short_kernel_name(std::string_view demangled) {
  std::string out;
  for (std::size_t i = 0; i < demangled.size();) {
    const std::string_view tail = demangled.substr(i);
    if (const std::size_t length = operator_length(tail); length != 0) {
      out += tail.substr(0, length);
      i += length;
      continue;
    }
    const char c = demangled[i];
    const std::size_t behind = c == '<' || c == '(' || c == '{' ? behind_closing(demangled, i) : 0;
    if (behind == std::string_view::npos) return std::string(demangled);  // not a C++ name
    if (c == '<') {
      out += "<…>";
      i = behind;
    } else if (c == '{') {
      out += tail.substr(0, behind - i);  // {lambda()#1}
      i = behind;
    } else if (c == '(' && !tail.starts_with("(anonymous namespace)")) {
      // Parameters end the name, unless it continues behind them, as in f(int)::{lambda()#1}.
      if (!demangled.substr(behind).starts_with("::")) break;
      i = behind;
    } else if (c == '(') {
      out += tail.substr(0, behind - i);
      i = behind;
    } else if (c == ' ') {
      out.clear();  // the text so far was the return type
      ++i;
    } else {
      out += c;
      ++i;
    }
  }
  return out.empty() ? std::string(demangled) : out;
}

}  // namespace rangefinder
