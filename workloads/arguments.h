// SPDX-License-Identifier: Apache-2.0
//
// The command line of a small program: options, flags, --help, and what to end with where it was typed wrong.
//
//   Arguments arguments("What the program does");
//   arguments.number("--rounds", rounds, "Rounds", 1u, 1000u);
//   if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
//
// A front for CLI11, whose header takes 7 to 10 s of the compiler in each file that includes it: here one
// file does, for all probes, cases and benches. It has what they ask for and no more: no verbs, no arguments
// without a name. A variable keeps its value where its option is not given, and must outlive `parse`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;  // never its header here: see above
}

namespace rangefinder {

/// One thread: main's, before all others.
class Arguments {
 public:
  explicit Arguments(const std::string& description);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// `number` and `positive`: for the types at the end of arguments.cpp. Others do not link: add them there.
  template <typename Number>
  void number(const std::string& name, Number& value, const std::string& description = "");
  /// From `least` to `most`, both allowed.
  template <typename Number>
  void number(const std::string& name, Number& value, const std::string& description,
              std::type_identity_t<Number> least, std::type_identity_t<Number> most);
  template <typename Number>
  void positive(const std::string& name, Number& value, const std::string& description = "");

  /// One of `choices`; --help lists them in this order.
  void choice(const std::string& name, std::string& value, const std::string& description,
              const std::vector<std::string>& choices);
  /// Texts between commas, each one of `choices`; any text where there are none.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& description = "",
            const std::vector<std::string>& choices = {});
  void flag(const std::string& name, bool& value, const std::string& description = "");

  /// The exit code where the program has nothing left to do: 0 behind --help, or 2 behind wrong use, which
  /// stderr then explains.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);
  /// For what only the program can see in the value of an option: explains it as `parse` does, returns 2.
  [[nodiscard]] int wrong_use(const std::string& option, const std::string& message) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace rangefinder
