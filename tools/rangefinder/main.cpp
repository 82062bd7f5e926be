// SPDX-License-Identifier: Apache-2.0
//
// rangefinder: GPU time, DRAM and L2 bytes of every part of a CUDA program.
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/read/no_match.h"
#include "tools/analysis/read/read_damage.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/progress_bar.h"
#include "tools/rangefinder/verb.h"

namespace {

constexpr const char* kAbout =
    "Measures how long each part of a CUDA program runs on the GPU, and how many bytes it moves\n"
    "through DRAM and L2. A part is an NVTX range. The program needs no change.";

constexpr const char* kFooter =
    "Start with:\n"
    "  rangefinder doctor                          can this machine trace?\n"
    "  rangefinder run -- ./app --its options      trace a program\n"
    "  rangefinder report rangefinder-4711         show the trace\n"
    "\nExit codes: 0 ok, 1 a check failed, 2 wrong use or nothing selected, 3 something is missing.\n"
    "`run` returns the program's exit code.\n";

/// tools/completion: `rangefinder __complete WORDS…` prints what the last word may become.
constexpr const char* kComplete = "__complete";

void print_completions(const std::vector<rangefinder::Choice>& choices) {
  for (const rangefinder::Choice& choice : choices) std::cout << choice.name << "\t" << choice.about << "\n";
}

/// Escapes each line: a name from a trace may contain terminal control sequences.
int print_once(const std::string& message, int code) {
  std::cerr << "rangefinder: ";
  for (std::size_t at = 0; at <= message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::cerr << rangefinder::printable(message.substr(at, end - at)) << "\n";
    at = end + 1;
  }
  return code;
}

int not_understood(const rangefinder::NotUnderstood& error) {
  std::cerr << "rangefinder: " << error.what()
            << "\n  See `rangefinder --help` or `rangefinder VERB --help`.\n";
  return rangefinder::kExitWrongUse;
}

/// Reports what a verb could not read of its traces. The verb has shown the rest.
int with_damage(int code) {
  const std::vector<std::string> sentences = rangefinder::read_damage.sentences();
  for (const std::string& sentence : sentences) print_once(sentence, code);
  return code == rangefinder::kExitOk && !sentences.empty() ? rangefinder::kExitMissing : code;
}

int run_command_line(int argc, char** argv) {
  // Split here: CLI11 2.1.2 rejects arguments after `--` in a subcommand.
  std::vector<std::string> all(argv + 1, argv + argc);
  const auto dashes = std::find(all.begin(), all.end(), "--");
  const std::vector<std::string> program(dashes == all.end() ? dashes : dashes + 1, all.end());
  const std::vector<std::string> own(all.begin(), dashes);

  rangefinder::CommandLine line("rangefinder", kAbout);
  line.version(std::string("rangefinder ") + RANGEFINDER_VERSION);
  rangefinder::Verb without_verb = line.without_verb();
  without_verb.usage("VERB [OPTIONS]");
  rangefinder::Action action;
  rangefinder::add_run(line, action, program);
  rangefinder::add_attach(line, action);
  rangefinder::add_top(line, action);
  rangefinder::add_report(line, action);
  rangefinder::add_diff(line, action);
  rangefinder::add_validate(line, action);
  rangefinder::add_finalize(line, action);
  rangefinder::add_export(line, action);
  rangefinder::add_serve(line, action);
  rangefinder::add_metrics(line, action);
  rangefinder::add_doctor(line, action);
  without_verb.footer(kFooter);  // behind the verbs, which would inherit it
  if (!all.empty() && all.front() == kComplete) {
    all.erase(all.begin());
    print_completions(line.completions(all));
    return rangefinder::kExitOk;
  }
  try {
    if (const std::optional<int> exit_code = line.parse(own)) return *exit_code;
  } catch (const rangefinder::NotUnderstood& error) {
    return not_understood(error);
  }
  if (!action) {
    std::cerr << line.help();
    return rangefinder::kExitWrongUse;
  }
  for (const char* const verb : {"run", "top", "serve"}) {
    if (line.got(verb)) return action();  // these use the terminal themselves
  }
  int code = rangefinder::kExitOk;
  {
    const rangefinder::ProgressBar bar;
    code = action();
  }
  return line.got("validate") ? code : with_damage(code);  // validate has reported the damage
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run_command_line(argc, argv);
    std::cout.flush();
    if (!std::cout) return print_once("cannot write to standard output", rangefinder::kExitMissing);
    return code;
  } catch (const rangefinder::WrongUse& error) {
    return print_once(error.what(), rangefinder::kExitWrongUse);
  } catch (const rangefinder::NoMatch& error) {
    return print_once(error.what(), rangefinder::kExitWrongUse);
  } catch (const rangefinder::Missing& error) {
    return print_once(error.what(), rangefinder::kExitMissing);
  } catch (const std::exception& error) {
    return print_once(error.what(), rangefinder::kExitMissing);
  }
}
