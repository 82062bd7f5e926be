// SPDX-License-Identifier: Apache-2.0
//
// Parses command lines as `rangefinder` does, and runs none of them.
//
//   one a line on standard input, words separated by tabs ─▶ a line of output for each that is wrong
//
// Exit code 1 if there is one.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "tools/command_line/command_line.h"
#include "tools/rangefinder/program.h"
#include "tools/rangefinder/verb.h"

namespace {
using namespace rangefinder;

/// Throws NotUnderstood.
void parse(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), dashes), program(dashes, words.end());
  CommandLine line("rangefinder", "");
  line.version("");
  Action action;
  add_run(line, action, program);
  add_attach(line, action);
  add_top(line, action);
  add_reading_verbs(line, action);
  add_metrics(line, action);
  add_doctor(line, action);
  const bool helps = std::any_of(own.begin(), own.end(), [](const std::string& word) {
    return word == "help" || word == "--help" || word == "--version" || word == "-V" || word == "version";
  });
  if (!helps) static_cast<void>(line.parse(own));  // else it would print
}

}  // namespace

int main() {
  int wrong = 0;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
    try {
      parse(words);
    } catch (const NotUnderstood& error) {
      std::cout << text << ": " << error.what() << "\n";
      wrong = 1;
    }
  }
  return wrong;
}
