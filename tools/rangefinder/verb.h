// SPDX-License-Identifier: Apache-2.0
//
// What every verb of the command line shares: how it is added, how it ends.
//
//   main ─▶ add_run(app, …), add_report(app, …), … ─▶ CLI11 parses ─▶ the chosen Action ─▶ exit code
//
// One file a verb. A verb throws WrongUse for what the user should have typed
// differently and Missing for what is not there; main prints either once.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;  // its header is among the largest: included by verbs alone
}

namespace rangefinder {

inline constexpr int kExitOk = 0;
inline constexpr int kExitCheckFailed = 1;  ///< invalid trace
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitMissing = 3;  ///< file, GPU, permission

class WrongUse : public std::runtime_error {
 public:
  explicit WrongUse(const std::string& message) : std::runtime_error(message) {}
};

/// What is to be done once the command line was understood.
using Action = std::function<int()>;

/// `program`: what stood behind the first `--`.
void add_run(CLI::App& app, Action& action, const std::vector<std::string>& program);
void add_report(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_validate(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_metrics(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_attach(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);

}  // namespace rangefinder
