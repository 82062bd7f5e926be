// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/program.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/huge_pages.h"
#include "tools/analysis/model/no_match.h"
#include "tools/analysis/model/read_ledger.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/progress_bar.h"

namespace rangefinder {
namespace {

/// tools/completion: `rangefinder __complete WORDS…` prints what the last word may become.
constexpr const char* kComplete = "__complete";

void print_completions(const std::vector<Choice>& choices) {
  for (const Choice& choice : choices) std::cout << choice.name << "\t" << choice.about << "\n";
}

/// Escapes each line: a name from a trace may contain terminal control sequences.
int print_once(const std::string& message, int code) {
  std::cerr << "rangefinder: ";
  for (std::size_t at = 0; at <= message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::cerr << printable(message.substr(at, end - at)) << "\n";
    at = end + 1;
  }
  return code;
}

int not_understood(const NotUnderstood& error) {
  std::cerr << "rangefinder: " << error.what()
            << "\n  See `rangefinder --help` or `rangefinder VERB --help`.\n";
  return kExitWrongUse;
}

/// Reports what a verb could not read of its traces. The verb has shown the rest.
int with_damage(int code) {
  const std::vector<std::string> sentences = read_damage.sentences();
  for (const std::string& sentence : sentences) print_once(sentence, code);
  return code == kExitOk && !sentences.empty() ? kExitMissing : code;
}

/// The heap begins with this many bytes of address space, in huge pages: a fifth of the time of `report` were
/// page faults of 4 KiB. Pages are allocated when they are first written; where the system has no huge ones,
/// nothing changes.
void use_huge_pages() {
  constexpr int kHeapBytes = 512 << 20, kMappedBytes = 4 << 20;
  mallopt(M_TOP_PAD, kHeapBytes);
  mallopt(M_MMAP_THRESHOLD, kMappedBytes);            // larger blocks: HugePages
  void* const block = std::malloc(kMappedBytes / 2);  // the heap grows
  const auto begin =
      reinterpret_cast<std::uintptr_t>(block) / kHugePageBytes * kHugePageBytes + kHugePageBytes;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (block != nullptr && begin < end) {
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
  }
  std::free(block);
}

int run_command_line(const Program& about, int argc, char** argv) {
  // Split here: CLI11 2.1.2 rejects arguments after `--` in a subcommand.
  std::vector<std::string> all(argv + 1, argv + argc);
  const auto dashes = std::find(all.begin(), all.end(), "--");
  const std::vector<std::string> program(dashes == all.end() ? dashes : dashes + 1, all.end());
  const std::vector<std::string> own(all.begin(), dashes);

  CommandLine line("rangefinder", about.about);
  line.version(std::string("rangefinder ") + RANGEFINDER_VERSION + about.edition);
  Verb without_verb = line.without_verb();
  without_verb.usage("VERB [OPTIONS]");
  Action action;
  about.add_verbs(line, action, program);
  // Behind the verbs, which would inherit it.
  without_verb.footer(std::string(about.start) + "\n" + about.footer);
  if (!all.empty() && all.front() == kComplete) {
    all.erase(all.begin());
    print_completions(line.completions(all));
    return kExitOk;
  }
  try {
    if (const std::optional<int> exit_code = line.parse(own)) return *exit_code;
  } catch (const NotUnderstood& error) {
    return not_understood(error);
  }
  if (!action) {
    std::cerr << about.start;
    return kExitWrongUse;
  }
  for (const char* const verb : {"run", "top", "serve", "demo"}) {
    if (line.got(verb)) return action();  // these use the terminal themselves
  }
  int code = kExitOk;
  {
    const ProgressBar bar;
    code = action();
  }
  return line.got("validate") ? code : with_damage(code);  // validate has reported the damage
}

}  // namespace

void add_reading_verbs(CommandLine& line, Action& action) {
  add_demo(line, action);
  add_report(line, action);
  add_diff(line, action);
  add_validate(line, action);
  add_finalize(line, action);
  add_export(line, action);
  add_serve(line, action);
  add_lake(line, action);
  add_sql(line, action);
}

int run_program(const Program& program, int argc, char** argv) noexcept {
  try {
    use_huge_pages();
    const int code = run_command_line(program, argc, argv);
    std::cout.flush();
    if (!std::cout) return print_once("cannot write to standard output", kExitMissing);
    return code;
  } catch (const WrongUse& error) {
    return print_once(error.what(), kExitWrongUse);
  } catch (const NoMatch& error) {
    return print_once(error.what(), kExitWrongUse);
  } catch (const Missing& error) {
    return print_once(error.what(), kExitMissing);
  } catch (const std::exception& error) {
    return print_once(error.what(), kExitMissing);
  }
}

}  // namespace rangefinder
