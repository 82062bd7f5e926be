// SPDX-License-Identifier: Apache-2.0
#include "schema/read_line.h"

#include "schema/fields.h"
#include "schema/line_keys.h"
#include "schema/read_plain.h"

namespace rangefinder {
namespace {

std::string_view kind_name(const UnknownLine& line) noexcept {
  return line.kind;
}

// The original text of the definition: a parsed tree does not keep the form of its numbers.
std::string raw_definition(std::string_view text) {
  simdjson::ondemand::parser parser;
  const simdjson::padded_string padded(text);
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  std::string_view raw;
  if (parser.iterate(padded).get(document) ||
      document.find_field_unordered("definition").get_object().get(object) || object.raw_json().get(raw)) {
    throw LineError{"payload_schema: key \"definition\" cannot be read"};
  }
  return std::string(
      raw.substr(0, raw.find_last_of('}') + 1));  // raw_json() includes text up to the next token
}

template <typename Record>
bool read_as(std::string_view kind, simdjson::dom::object object, TextPool& pool, Line& line) {
  constexpr const Kind<Record>& kKindOf = kKind<Record>;
  const bool flag = kKindOf.flag != nullptr && kind == kKindOf.name_if_flag;
  if (!flag && kind != kKindOf.name) return false;
  auto& record = line.emplace<Record>();
  if constexpr (kKindOf.flag != nullptr) record.*kKindOf.flag = flag;
  const LineKeys keys(kind, object, pool);
  fields(keys, record);
  return true;
}

template <typename... Records>
bool read_known(std::string_view kind, simdjson::dom::object object, TextPool& pool,
                std::variant<UnknownLine, Records...>& line) {
  return (read_as<Records>(kind, object, pool, line) || ...);
}

}  // namespace

struct LineReader::Impl {
  simdjson::dom::parser parser;
  TextPool pool;
  std::string error;

  void read(std::string_view text, Line& line);
};

void LineReader::Impl::read(std::string_view text, Line& line) {
  if (read_plain(text, pool, line)) return;
  simdjson::dom::element root;
  if (const auto code = parser.parse(text.data(), text.size()).get(root); code) {
    throw LineError{std::string("the line is not JSON: ") + simdjson::error_message(code)};
  }
  simdjson::dom::object object;
  if (root.get(object)) throw LineError{"the line is not a JSON object"};
  std::string_view kind;
  const LineKeys unnamed("line", object, pool);
  unnamed.required("t", kind);

  if (!read_known(kind, object, pool, line)) line.emplace<UnknownLine>().kind = kind;
  if (auto* const schema = std::get_if<PayloadSchemaRecord>(&line)) schema->definition = raw_definition(text);
}

LineReader::LineReader() : impl_(std::make_unique<Impl>()) {}
LineReader::~LineReader() = default;

bool LineReader::read(std::string_view text, Line& line) {
  try {
    impl_->error.clear();
    impl_->read(text, line);
    return true;
  } catch (const LineError& error) {
    impl_->error = error.text;
    return false;
  }
}

const std::string& LineReader::error() const noexcept {
  return impl_->error;
}

std::string_view line_kind(const Line& line) noexcept {
  return std::visit([](const auto& record) { return kind_name(record); }, line);
}

}  // namespace rangefinder
