// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/verb_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <sstream>

#include "profiler/base/number_text.h"

namespace rangefinder {
namespace {

constexpr std::size_t kColumn = 28;  // where descriptions begin

/// `text` in lines that begin at `column`, the first of them without its indent. Keeps line breaks.
std::string wrapped(const std::string& text, std::size_t column) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    out += wrapped_text(line, kHelpWidth, std::string(column, ' '));
  return out.substr(std::min(column, out.size()));
}

/// A name at column `indent`, and behind it a text that begins at column `column`.
std::string entry(const std::string& name, const std::string& text, std::size_t indent, std::size_t column) {
  std::string out = std::string(indent, ' ') + name;
  if (text.empty()) return out + "\n";
  if (text_width(out) + 2 > column)
    out += "\n" + std::string(column, ' ');
  else
    out += std::string(column - text_width(out), ' ');
  return out + wrapped(text, column);
}

/// The placeholder of an option's values; empty: it takes none.
std::string placeholder(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 ? "" : option.get_type_name();
}

std::string option_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true, false);
  std::string name = option.get_name(false, true);
  if (const std::size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
  const std::string value = placeholder(option);
  if (!value.empty()) name += " " + value;
  if (option.get_expected_min() == 2) name += " " + value;
  return name;
}

std::string option_entry(const CLI::Option& option, const CommandNotes& notes) {
  std::string out = entry(option_name(option), option.get_description(), 2, kColumn);
  const auto at = notes.choices.find(&option);
  if (at == notes.choices.end()) return out;
  std::size_t longest = 0;
  for (const Choice& choice : at->second) longest = std::max(longest, text_width(choice.name));
  for (const Choice& choice : at->second) {
    if (!choice.about.empty()) out += entry(choice.name, choice.about, kColumn, kColumn + longest + 2);
  }
  return out;
}

std::string usage_tail(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* const option : app.get_options({})) {
    if (option->nonpositional() && option->get_required()) out += " " + option_name(*option);
  }
  for (const CLI::Option* const option : app.get_options({})) {
    if (!option->get_positional()) continue;
    const std::string name = option_name(*option) + (option->get_expected_max() > 1 ? "..." : "");
    out += option->get_required() ? " " + name : " [" + name + "]";
  }
  return out;
}

std::string usage(const CLI::App& app, const std::string& name, const CommandNotes& notes) {
  const auto at = notes.usages.find(&app);
  const std::vector<std::string> tails =
      at == notes.usages.end() ? std::vector{"[OPTIONS]" + usage_tail(app)} : at->second;
  std::string out;
  for (const std::string& tail : tails)
    out += (out.empty() ? "Usage: " : "       ") + name + " " + tail + "\n";
  return out;
}

/// The group `title` with all options that `shown` accepts; empty: there are none.
std::string group(const CLI::App& app, const std::string& title, const CommandNotes& notes,
                  const std::function<bool(const CLI::Option*)>& shown) {
  std::string out;
  for (const CLI::Option* const option : app.get_options(shown)) out += option_entry(*option, notes);
  return out.empty() ? out : "\n" + title + ":\n" + out;
}

}  // namespace

std::string verb_help(const CLI::App& app, const std::string& name, const CommandNotes& notes) {
  std::string out = app.get_description() + "\n\n" + usage(app, name, notes);
  out += group(app, "Arguments", notes, [](const CLI::Option* option) { return option->get_positional(); });
  std::string verbs;
  for (const CLI::App* const verb : app.get_subcommands({}))
    verbs += entry(verb->get_name(), verb->get_description(), 2, 14);
  if (!verbs.empty()) out += "\nVerbs:\n" + verbs;
  const CLI::Option* const help = app.get_help_ptr();
  std::vector<std::string> titles = app.get_groups();
  std::erase(titles, "");  // hidden options
  for (const std::string& title : titles) {
    out += group(app, title, notes, [&title, help](const CLI::Option* option) {
      return option->get_group() == title && option->nonpositional() && option != help;
    });
  }
  out += group(app, "Help", notes, [help](const CLI::Option* option) { return option == help; });
  return app.get_footer().empty() ? out : out + "\n" + app.get_footer();
}

}  // namespace rangefinder
