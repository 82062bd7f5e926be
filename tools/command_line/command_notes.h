// SPDX-License-Identifier: Apache-2.0
//
// What --help and completion need beyond what CLI11 stores.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/command_line/command_line.h"

namespace rangefinder {

struct CommandNotes {
  std::map<const CLI::App*, std::vector<std::string>>
      usages;  ///< what follows the verb; none: made from its options
  std::map<const CLI::Option*, std::vector<Choice>> choices;
};

}  // namespace rangefinder
