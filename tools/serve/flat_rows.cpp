// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/flat_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/export/prometheus_families.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

void add(OrderedJson& out, const std::string& key, const OrderedJson& value) {
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
  for (const OrderedJson& part : value) {
    text += (text.empty() ? "" : ", ") + (part.is_string() ? part.get<std::string>() : part.dump());
  }
  out[name] = std::move(text);
}

}  // namespace

OrderedJson flat_row(const OrderedJson& row) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [key, value] : row.items()) add(out, key, value);
  return out;
}

OrderedJson flat_rows(const OrderedJson& rows) {
  OrderedJson out = OrderedJson::array();
  for (const OrderedJson& row : rows) out.push_back(flat_row(row));
  return out;
}

OrderedJson flat_modules(const OrderedJson& document) {
  OrderedJson out = flat_rows(document.value("modules", OrderedJson::array()));
  if (const auto outside = document.find("outside"); outside != document.end()) {
    OrderedJson row{{"path", kOutsideModule}, {"depth", 0}, {"calls", 0}};
    row.update(flat_row(*outside));
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace rangefinder
