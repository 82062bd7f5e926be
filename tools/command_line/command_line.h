// SPDX-License-Identifier: Apache-2.0
//
// The command line of our tools: verbs, their options, --help, and what to say where it was typed wrong.
//
//   CommandLine line("rangefinder", "What it does");
//   Verb report = line.verb("report", "What a trace says");
//   report.option("--top", top, "Only the heaviest so many rows").positive();
//   report.callback([&] { … });
//   if (const std::optional<int> exit_code = line.parse(words)) return *exit_code;
//
// A front for CLI11, whose header takes 7 to 10 s of the compiler in each file that includes it: here one
// file does, for all tools. Methods are named as CLI11 names them, where it has them; there is nothing here
// that no tool asks for. A variable keeps its value where its option is not given, and must outlive `parse`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;  // never its header here: see above
class Option;
}  // namespace CLI

namespace rangefinder {

/// One option or flag of a verb. Borrowed from its CommandLine, cheap to copy.
/// One thread, as all of this file: main's, before all others.
class CommandLineOption {
 public:
  explicit CommandLineOption(CLI::Option* option) : option_(option) {}

  CommandLineOption& required();
  /// What --help shows for the value.
  CommandLineOption& type_name(const std::string& name);
  /// So many values.
  CommandLineOption& expected(int count);
  CommandLineOption& expected(int least, int most);
  CommandLineOption& positive();
  /// From `least` to `most`, both allowed.
  CommandLineOption& in_range(int least, int most);
  CommandLineOption& existing_directory();
  CommandLineOption& excludes(const CommandLineOption& other);
  CommandLineOption& needs(const CommandLineOption& other);
  /// Not in --help: for the program itself.
  CommandLineOption& hidden();

  /// 0: it was not given.
  [[nodiscard]] std::size_t count() const;

 private:
  CLI::Option* option_;
};

/// One verb: its options and what it does. Borrowed from its CommandLine, cheap to copy.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  /// A `name` without dashes is an argument, known by its place. For the types at the end of
  /// command_line.cpp. Others do not link: add them there.
  template <typename Value>
  CommandLineOption option(const std::string& name, Value& value, const std::string& description);
  CommandLineOption flag(const std::string& name, bool& value, const std::string& description);
  /// The end of --help.
  void footer(const std::string& text);
  /// Called by `parse` where the verb was given, after all variables are set.
  void callback(const std::function<void()>& function);
  /// Words that fit nothing go into `remaining`; else they are wrong use.
  void allow_extras();

  /// How often the option of this name was given.
  [[nodiscard]] std::size_t count(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> remaining() const;

 private:
  CLI::App* app_;
};

/// The words are none of this program's; the message says which and why, unescaped as they were typed.
class NotUnderstood : public std::runtime_error {
 public:
  explicit NotUnderstood(const std::string& message) : std::runtime_error(message) {}
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& about);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// A new verb. At most one of them is given.
  [[nodiscard]] Verb verb(const std::string& name, const std::string& about);
  /// The program's own options and end of --help, without a verb.
  [[nodiscard]] Verb without_verb();
  /// Adds --version, which prints `text`.
  void version(const std::string& text);

  /// `words`: without the program's name. The exit code where there is nothing left to do: 0 behind --help
  /// or --version, which are printed. Throws NotUnderstood.
  [[nodiscard]] std::optional<int> parse(std::vector<std::string> words);
  [[nodiscard]] bool got(const std::string& verb) const;
  /// What --help prints, of the verb that was given if there is one.
  [[nodiscard]] std::string help() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace rangefinder
