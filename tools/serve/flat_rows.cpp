// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/flat_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/export/prometheus_families.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

void add(Json& out, const std::string& key, const Json& value) {
  if (value.is_object()) {
    for (const auto& [inner, part] : value.items()) add(out, key + "_" + inner, part);
    return;
  }
  std::string name = key;
  std::replace(name.begin(), name.end(), '.', '_');
  if (!value.is_array()) {
    out[name] = value;
    return;
  }
  std::string text;
  for (const Json& part : value) {
    text += (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
  }
  out[name] = std::move(text);
}

}  // namespace

Json flat_row(const Json& row) {
  Json out = Json::object();
  for (const auto& [key, value] : row.items()) add(out, key, value);
  return out;
}

Json flat_rows(const Json& rows) {
  Json out = Json::array();
  for (const Json& row : rows) out.push_back(flat_row(row));
  return out;
}

Json flat_modules(const Json& document) {
  Json out = flat_rows(document.value("modules", Json::array()));
  if (const auto outside = document.find("outside"); outside != document.end()) {
    Json row{{"path", kOutsideModule}, {"depth", 0}, {"calls", 0}};
    row.update(flat_row(*outside));
    out.push_back(std::move(row));
  }
  return out;
}

std::string compact_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rangefinder
