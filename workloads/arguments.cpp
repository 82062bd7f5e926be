// SPDX-License-Identifier: Apache-2.0
#include "workloads/arguments.h"

#include <CLI/CLI.hpp>
#include <cstdint>

namespace rangefinder {

constexpr int kExitWrongUse = 2;

Arguments::Arguments(const std::string& description) : app_(std::make_unique<CLI::App>(description)) {}

Arguments::~Arguments() = default;

template <typename Number>
void Arguments::number(const std::string& name, Number& value, const std::string& description) {
  app_->add_option(name, value, description);
}

template <typename Number>
void Arguments::number(const std::string& name, Number& value, const std::string& description,
                       std::type_identity_t<Number> least, std::type_identity_t<Number> most) {
  app_->add_option(name, value, description)->check(CLI::Range(least, most));
}

template <typename Number>
void Arguments::positive(const std::string& name, Number& value, const std::string& description) {
  app_->add_option(name, value, description)->check(CLI::PositiveNumber);
}

void Arguments::choice(const std::string& name, std::string& value, const std::string& description,
                       const std::vector<std::string>& choices) {
  app_->add_option(name, value, description)->check(CLI::IsMember(choices));
}

void Arguments::list(const std::string& name, std::vector<std::string>& values,
                     const std::string& description, const std::vector<std::string>& choices) {
  CLI::Option* const option = app_->add_option(name, values, description)->delimiter(',');
  if (!choices.empty()) option->check(CLI::IsMember(choices));
}

void Arguments::flag(const std::string& name, bool& value, const std::string& description) {
  app_->add_flag(name, value, description);
}

std::optional<int> Arguments::parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // --help too, with code 0
    return app_->exit(error) == 0 ? 0 : kExitWrongUse;
  }
  return std::nullopt;
}

int Arguments::wrong_use(const std::string& option, const std::string& message) const {
  app_->exit(CLI::ValidationError(option, message));
  return kExitWrongUse;
}

template void Arguments::number(const std::string&, unsigned&, const std::string&);
template void Arguments::number(const std::string&, std::uint64_t&, const std::string&);
template void Arguments::number(const std::string&, int&, const std::string&, int, int);
template void Arguments::number(const std::string&, unsigned&, const std::string&, unsigned, unsigned);
template void Arguments::number(const std::string&, std::uint64_t&, const std::string&, std::uint64_t,
                                std::uint64_t);
template void Arguments::number(const std::string&, double&, const std::string&, double, double);
template void Arguments::positive(const std::string&, unsigned&, const std::string&);
template void Arguments::positive(const std::string&, std::uint64_t&, const std::string&);

}  // namespace rangefinder
