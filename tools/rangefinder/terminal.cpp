// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "tools/command_line/command_line.h"

namespace rangefinder {
namespace {

constexpr std::size_t kDefaultWidth = 120;
constexpr std::size_t kMinWidth = 40;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// The value of --color. Main thread only.
std::string& color_choice() {
  static std::string choice = "auto";
  return choice;
}

}  // namespace

void add_color_option(Verb& verb) {
  verb.option("--color", color_choice(),
              "Colour: auto (on a terminal, unless NO_COLOR is set), always or never [auto]")
      .type_name("WHEN")
      .choices({{"auto"}, {"always"}, {"never"}})
      .only_choices();
}

bool use_colour(int file) {
  if (color_choice() != "auto") return color_choice() == "always";
  if (!variable("NO_COLOR").empty()) return false;
  if (const auto force = variable("CLICOLOR_FORCE"); !force.empty() && force != "0") return true;
  if (variable("CLICOLOR") == "0" || variable("TERM") == "dumb") return false;
  return isatty(file) != 0;
}

std::size_t line_width(int file) {
  std::size_t width = std::strtoul(std::string(variable("COLUMNS")).c_str(), nullptr, 10);
  winsize size{};
  if (width == 0 && ioctl(file, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width == 0) return kDefaultWidth;
  return width < kMinWidth ? kMinWidth : width;
}

}  // namespace rangefinder
