// SPDX-License-Identifier: Apache-2.0
//
// What all verbs of the command line share: registration and exit codes.
//
//   main ─▶ add_run(line, …), add_report(line, …), … ─▶ line.parse ─▶ the chosen Action ─▶ exit code
//
// One file per verb. A verb throws WrongUse for a wrong command line and Missing for something that is not
// there. main prints either once.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rangefinder {

class CommandLine;

inline constexpr int kExitOk = 0;
inline constexpr int kExitCheckFailed = 1;  ///< invalid trace; a check or limit does not hold
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitMissing = 3;    ///< file, GPU, permission
inline constexpr int kExitUnchecked = 4;  ///< a check was asked for that cannot be made

class WrongUse : public std::runtime_error {
 public:
  explicit WrongUse(const std::string& message) : std::runtime_error(message) {}
};

/// What runs after the command line was parsed.
using Action = std::function<int()>;

/// `program`: the words after the first `--`.
void add_run(CommandLine& line, Action& action, const std::vector<std::string>& program);
void add_demo(CommandLine& line, Action& action);
void add_report(CommandLine& line, Action& action);
void add_diff(CommandLine& line, Action& action);
void add_validate(CommandLine& line, Action& action);
void add_finalize(CommandLine& line, Action& action);
void add_export(CommandLine& line, Action& action);
void add_metrics(CommandLine& line, Action& action);
void add_doctor(CommandLine& line, Action& action);
void add_attach(CommandLine& line, Action& action);
void add_top(CommandLine& line, Action& action);
void add_serve(CommandLine& line, Action& action);
void add_lake(CommandLine& line, Action& action);
void add_sql(CommandLine& line, Action& action);

}  // namespace rangefinder
