// SPDX-License-Identifier: Apache-2.0
//
// The command line of a small program: options, flags, --help, and the exit code of wrong use.
//
//   Arguments arguments("What the program does");
//   arguments.number("--rounds", rounds, "Rounds", 1u, 1000u);
//   if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
//
// A front for CLI11. Its header takes 7 to 10 s to compile in each file that includes it, so one file does it
// for all probes, cases and benches. It supports only what they need: no verbs, no positional arguments. A
// variable keeps its value if its option is not given, and must outlive `parse`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;  // forward declaration only: see above
}

namespace rangefinder {

/// Main thread only, before other threads start.
class Arguments {
 public:
  explicit Arguments(const std::string& description);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// `number` and `positive` link only for the types at the end of arguments.cpp. Add further types there.
  template <typename Number>
  void number(const std::string& name, Number& value, const std::string& description = "");
  /// From `least` to `most`, inclusive.
  template <typename Number>
  void number(const std::string& name, Number& value, const std::string& description,
              std::type_identity_t<Number> least, std::type_identity_t<Number> most);
  template <typename Number>
  void positive(const std::string& name, Number& value, const std::string& description = "");

  /// One of `choices`; --help lists them in this order.
  void choice(const std::string& name, std::string& value, const std::string& description,
              const std::vector<std::string>& choices);
  /// Comma-separated texts, each one of `choices`; any text if `choices` is empty.
  void list(const std::string& name, std::vector<std::string>& values, const std::string& description = "",
            const std::vector<std::string>& choices = {});
  void flag(const std::string& name, bool& value, const std::string& description = "");

  /// Returns the exit code if the program must end: 0 after --help, 2 after wrong use, which stderr explains.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);
  /// For values that only the program can check: reports the error as `parse` does and returns 2.
  [[nodiscard]] int wrong_use(const std::string& option, const std::string& message) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace rangefinder
