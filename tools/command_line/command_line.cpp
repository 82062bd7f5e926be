// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "profiler/base/edit_distance.h"
#include "tools/command_line/command_notes.h"
#include "tools/command_line/verb_help.h"

namespace rangefinder {
namespace {

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// What is wrong with the first unknown verb or option. Empty: CLI11's own message is as good.
std::string unknown_text(const CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<CLI::App*> verbs = app.get_subcommands();
  if (verbs.empty()) {
    if (words.empty() || words.front().starts_with("-")) return {};
    std::vector<std::string> known;
    for (const CLI::App* const verb : app.get_subcommands({})) known.push_back(verb->get_name());
    return "there is no verb " + words.front() + suggestion_or_all_text(known, words.front());
  }
  for (const std::string& word : verbs.front()->remaining()) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    return verbs.front()->get_name() + " has no option " + name +
           suggestion_text(long_options(*verbs.front()), name);
  }
  return {};
}

/// The first sentence, without the colon before a list of choices.
std::string first_sentence(const std::string& text) {
  std::string out = text.substr(0, std::min(text.find('\n'), text.find(". ")));
  out.erase(out.find_last_not_of('.') + 1);
  if (out.ends_with(':')) out.pop_back();
  return out;
}

std::vector<Choice> option_choices(const CLI::App& app) {
  std::vector<Choice> out;
  for (const CLI::Option* const option : app.get_options({})) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames())
      out.push_back({"--" + name, first_sentence(option->get_description())});
  }
  return out;
}

/// The option that `word` names, if it takes a value.
const CLI::Option* option_before_value(const CLI::App& app, const std::string& word) {
  if (!word.starts_with("-")) return nullptr;
  for (const CLI::Option* const option : app.get_options({})) {
    if (option->get_items_expected_max() != 0 && option->check_name(word)) return option;
  }
  return nullptr;
}

/// True for placeholders of folders: of an option's value, or of an argument.
bool takes_folder(const CLI::Option& option) {
  return (option.get_positional() ? option.get_name(true, false) : option.get_type_name()) == "DIR";
}

/// What a value of `option` may be; nullptr: what an argument may be.
std::vector<Choice> value_choices(const CLI::App& app, const CommandNotes& notes, const CLI::Option* option) {
  if (const auto at = notes.choices.find(option); at != notes.choices.end()) return at->second;
  const bool folder = option != nullptr ? takes_folder(*option)
                                        : !app.get_options([](const CLI::Option* one) {
                                                return one->get_positional() && takes_folder(*one);
                                              })
                                               .empty();
  return folder ? std::vector<Choice>{{kAnyFolder}} : std::vector<Choice>();
}

/// nullptr: the verb has options only.
const CLI::Option* first_argument(const CLI::App& app) {
  const std::vector<const CLI::Option*> all =
      app.get_options([](const CLI::Option* one) { return one->get_positional(); });
  return all.empty() ? nullptr : all.front();
}

std::vector<Choice> starting_with(const std::string& text, std::vector<Choice> choices) {
  std::erase_if(choices, [&text](const Choice& choice) { return !choice.name.starts_with(text); });
  return choices;
}

std::vector<Choice> completions_of(const CLI::App& app, const CommandNotes& notes,
                                   const std::vector<std::string>& words) {
  const std::string& last = words.back();
  std::vector<Choice> verbs;
  for (const CLI::App* const verb : app.get_subcommands({})) {
    verbs.push_back({verb->get_name(), verb->get_description()});
    if (words.size() > 1 && verb->get_name() == words.front())
      return completions_of(*verb, notes, {words.begin() + 1, words.end()});
  }
  if (last.starts_with("-")) {
    const std::size_t equals = last.find('=');
    if (equals == std::string::npos) return starting_with(last, option_choices(app));
    const CLI::Option* const option = option_before_value(app, last.substr(0, equals));
    if (option == nullptr || takes_folder(*option)) return {};
    std::vector<Choice> out = value_choices(app, notes, option);
    for (Choice& value : out) value.name.insert(0, last.substr(0, equals + 1));
    return starting_with(last, out);
  }
  if (words.size() == 1 && !verbs.empty()) {
    verbs.push_back({"help", "Show the help of a verb"});
    return starting_with(last, verbs);
  }
  if (!verbs.empty()) return words.front() == "help" ? starting_with(last, verbs) : std::vector<Choice>();
  std::vector<Choice> values = value_choices(
      app, notes, words.size() > 1 ? option_before_value(app, words[words.size() - 2]) : first_argument(app));
  return !values.empty() && values.front().name == kAnyFolder ? values : starting_with(last, values);
}

}  // namespace

CommandLineOption& CommandLineOption::required() {
  option_->required();
  return *this;
}

CommandLineOption& CommandLineOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

CommandLineOption& CommandLineOption::choices(std::vector<Choice> values) {
  notes_->choices[option_] = std::move(values);
  return *this;
}

CommandLineOption& CommandLineOption::only_choices() {
  std::vector<std::string> known;
  for (const Choice& choice : notes_->choices[option_]) known.push_back(choice.name);
  option_->check(CLI::Validator(
      [known](const std::string& text) {
        if (std::find(known.begin(), known.end(), text) != known.end()) return std::string();
        return text + " is not " + alternatives_text(known) + suggestion_text(known, text);
      },
      ""));
  return *this;
}

CommandLineOption& CommandLineOption::expected(int count) {
  option_->expected(count)->allow_extra_args(false);  // else it also takes the arguments behind its values
  return *this;
}

CommandLineOption& CommandLineOption::expected(int min, int max) {
  option_->expected(min, max);
  return *this;
}

CommandLineOption& CommandLineOption::positive() {
  // Not CLI::PositiveNumber: its message names the largest double. Texts that are no number fail later.
  option_->check(CLI::Validator(
      [](std::string& text) {
        double number = 1;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
        return read.ec == std::errc{} && number < 1 ? "must be at least 1" : std::string();
      },
      ""));
  return *this;
}

CommandLineOption& CommandLineOption::in_range(int min, int max) {
  option_->check(CLI::Range(min, max).description(""));
  return *this;
}

CommandLineOption& CommandLineOption::existing_directory() {
  option_->check(CLI::ExistingDirectory.description(""));
  return *this;
}

CommandLineOption& CommandLineOption::excludes(const CommandLineOption& other) {
  option_->excludes(other.option_);
  return *this;
}

CommandLineOption& CommandLineOption::needs(const CommandLineOption& other) {
  option_->needs(other.option_);
  return *this;
}

CommandLineOption& CommandLineOption::hidden() {
  option_->group("");
  return *this;
}

std::size_t CommandLineOption::count() const {
  return option_->count();
}

template <typename Value>
CommandLineOption Verb::option(const std::string& name, Value& value, const std::string& description) {
  return added(app_->add_option(name, value, description));
}

CommandLineOption Verb::flag(const std::string& name, bool& value, const std::string& description) {
  return added(app_->add_flag(name, value, description));
}

CommandLineOption Verb::added(CLI::Option* option) const {
  option->group(group_);
  return {option, notes_};
}

void Verb::usage(const std::string& text) {
  notes_->usages[app_].push_back(text);
}

void Verb::footer(const std::string& text) {
  app_->footer(text);
}

void Verb::callback(const std::function<void()>& function) {
  app_->callback(function);
}

void Verb::allow_extras() {
  app_->allow_extras();
}

std::size_t Verb::count(const std::string& name) const {
  return app_->count(name);
}

std::string Verb::suggestion(const std::string& option) const {
  return suggestion_text(long_options(*app_), option);
}

std::vector<std::string> Verb::remaining() const {
  return app_->remaining();
}

CommandLine::CommandLine(const std::string& program, const std::string& about)
    : app_(std::make_unique<CLI::App>(about, program)), notes_(std::make_unique<CommandNotes>()) {
  app_->require_subcommand(0, 1);
  app_->formatter_fn([notes = notes_.get()](const CLI::App* app, const std::string& name,
                                            CLI::AppFormatMode) { return verb_help(*app, name, *notes); });
  app_->fallthrough(false);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::verb(const std::string& name, const std::string& about) {
  return {app_->add_subcommand(name, about), notes_.get()};
}

Verb CommandLine::without_verb() {
  return {app_.get(), notes_.get()};
}

void CommandLine::version(const std::string& text) {
  app_->set_version_flag("-V,--version", text, "Print the version and exit")
      ->group("Options");  // CLI11's own group has changed its name
}

std::optional<int> CommandLine::parse(std::vector<std::string> words) {
  if (words == std::vector<std::string>{"version"}) words = {"--version"};
  // `help VERB` is `VERB --help`; `help`, `help help` and `help version` are `--help`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    const bool verb_follows = !words.empty() && !words.front().starts_with("-") && words.front() != "help" &&
                              words.front() != "version";
    words.resize(verb_follows ? 1 : 0);
    const auto named = [&words](const CLI::App* verb) { return verb->get_name() == words.front(); };
    const std::vector<CLI::App*> verbs = app_->get_subcommands({});
    if (!words.empty() && std::none_of(verbs.begin(), verbs.end(), named))
      throw NotUnderstood(unknown_text(*app_, words));
    words.emplace_back("--help");
  }
  try {
    app_->parse(std::vector<std::string>(words.rbegin(), words.rend()));  // in reverse, as CLI11 expects
  } catch (const CLI::ParseError& error) {
    // exit() prints help and version. CLI11's exit codes for errors differ from ours.
    if (error.get_exit_code() != 0) {
      const std::string unknown = unknown_text(*app_, words);
      throw NotUnderstood(unknown.empty() ? error.what() : unknown);
    }
    return app_->exit(error);
  }
  return std::nullopt;
}

bool CommandLine::got(const std::string& verb) const {
  const std::vector<CLI::App*> parsed = app_->get_subcommands();
  return std::any_of(parsed.begin(), parsed.end(),
                     [&](const CLI::App* one) { return one->get_name() == verb; });
}

std::vector<Choice> CommandLine::completions(std::vector<std::string> words) const {
  if (words.empty()) words.emplace_back();
  const bool program_follows = std::find(words.begin(), words.end() - 1, "--") != words.end() - 1;
  return program_follows ? std::vector<Choice>() : completions_of(*app_, *notes_, words);
}

template CommandLineOption Verb::option(const std::string&, std::string&, const std::string&);
template CommandLineOption Verb::option(const std::string&, std::vector<std::string>&, const std::string&);
template CommandLineOption Verb::option(const std::string&, int&, const std::string&);
template CommandLineOption Verb::option(const std::string&, std::uint32_t&, const std::string&);
template CommandLineOption Verb::option(const std::string&, std::uint64_t&, const std::string&);

}  // namespace rangefinder
