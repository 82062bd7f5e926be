// SPDX-License-Identifier: Apache-2.0
//
// The command line of our tools: verbs, their options, --help, and messages for wrong use.
//
//   CommandLine line("rangefinder", "What it does");
//   Verb report = line.verb("report", "Show a trace");
//   report.option("--top", top, "Show the N heaviest rows").positive();
//   report.callback([&] { … });
//   if (const std::optional<int> exit_code = line.parse(words)) return *exit_code;
//
// A facade for CLI11, whose header costs 7 to 10 s of compile time in each file that includes it. Here one
// file includes it for all tools. Methods have CLI11's names and exist only if a tool uses them.
// A variable keeps its value if its option is not given, and must outlive `parse`.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;  // do not include CLI11's header here: see above
class Option;
}  // namespace CLI

namespace rangefinder {

/// A value that an option takes.
struct Choice {
  std::string name;
  std::string about = {};  ///< shown in --help; empty: the option's description names the choice
};
/// The only choice of completions() where a folder is expected.
inline constexpr const char* kAnyFolder = "/";
struct CommandNotes;

/// One option or flag of a verb. Borrowed from its CommandLine, cheap to copy.
/// Everything in this file: main thread only, before other threads start.
class CommandLineOption {
 public:
  CommandLineOption(CLI::Option* option, CommandNotes* notes) : option_(option), notes_(notes) {}

  CommandLineOption& required();
  /// Placeholder of the value in --help.
  CommandLineOption& type_name(const std::string& name);
  /// For --help and completion. The verb checks the value itself, and suggests the nearest.
  CommandLineOption& choices(std::vector<Choice> values);
  /// Refuses other values than its choices().
  CommandLineOption& only_choices();
  /// Number of values.
  CommandLineOption& expected(int count);
  CommandLineOption& expected(int min, int max);
  CommandLineOption& positive();
  /// The value must be in [min, max].
  CommandLineOption& in_range(int min, int max);
  CommandLineOption& existing_directory();
  CommandLineOption& excludes(const CommandLineOption& other);
  CommandLineOption& needs(const CommandLineOption& other);
  /// Not shown in --help: internal.
  CommandLineOption& hidden();

  /// Number of times the option was given.
  [[nodiscard]] std::size_t count() const;

 private:
  CLI::Option* option_;
  CommandNotes* notes_;
};

/// One verb: its options and what it does. Borrowed from its CommandLine, cheap to copy.
class Verb {
 public:
  Verb(CLI::App* app, CommandNotes* notes) : app_(app), notes_(notes) {}

  /// Heading in --help of the options that follow.
  void group(const std::string& title) { group_ = title; }
  /// What follows the verb in the usage, as in "[OPTIONS] -- PROGRAM"; one line a call. By default it is made
  /// from the required options and the arguments.
  void usage(const std::string& text);

  /// A `name` without dashes is a positional argument. `Value` must be one of the types instantiated at the
  /// end of command_line.cpp; add others there.
  template <typename Value>
  CommandLineOption option(const std::string& name, Value& value, const std::string& description);
  CommandLineOption flag(const std::string& name, bool& value, const std::string& description);
  /// Text at the end of --help.
  void footer(const std::string& text);
  /// `parse` calls it if the verb was given, after all variables are set.
  void callback(const std::function<void()>& function);
  /// Collects unknown words in `remaining` instead of rejecting them.
  void allow_extras();

  /// Number of times the option of this name was given.
  [[nodiscard]] std::size_t count(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> remaining() const;
  /// ": did you mean --counters?", or empty if no option is near.
  [[nodiscard]] std::string suggestion(const std::string& option) const;

 private:
  [[nodiscard]] CommandLineOption added(CLI::Option* option) const;

  CLI::App* app_;
  CommandNotes* notes_;
  std::string group_ = "Options";
};

/// Wrong use. The message names the words and the reason; words are unescaped, as typed.
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

  /// Adds a verb. A command line has at most one verb.
  [[nodiscard]] Verb verb(const std::string& name, const std::string& about);
  /// For the program's own options and end of --help.
  [[nodiscard]] Verb without_verb();
  /// Adds -V and --version, which print `text`. So does the word `version`.
  void version(const std::string& text);

  /// `words`: without the program's name. Prints --help or --version and returns exit code 0 (`help VERB` is
  /// `VERB --help`); otherwise returns nullopt. Throws NotUnderstood.
  [[nodiscard]] std::optional<int> parse(std::vector<std::string> words);
  [[nodiscard]] bool got(const std::string& verb) const;
  /// What the last of `words` may become, for a shell's completion: verbs, options, values of an option, or
  /// kAnyFolder. Empty: nothing is known, as for files.
  [[nodiscard]] std::vector<Choice> completions(std::vector<std::string> words) const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<CommandNotes> notes_;
};

}  // namespace rangefinder
