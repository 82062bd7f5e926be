// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "workloads/rtdetr/safetensors.h"

namespace rangefinder::rtdetr {
namespace {

constexpr std::size_t kHeaderAlignmentBytes = 8;  // aligns tensors for readers that map the file

template <typename Value>
std::vector<std::byte> bytes_of(const std::string& name, const Shape& shape,
                                const std::vector<Value>& values) {
  if (static_cast<std::size_t>(element_count(shape)) != values.size())
    throw std::invalid_argument("tensor " + name + " has " + std::to_string(values.size()) +
                                " values for the shape " + shape_text(shape));
  std::vector<std::byte> bytes(values.size() * sizeof(Value));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

void SafetensorsWriter::add(const std::string& name, Shape shape, std::vector<float> values) {
  std::vector<std::byte> bytes = bytes_of(name, shape, values);
  if (!entries_.emplace(name, Entry{std::move(shape), false, std::move(bytes)}).second)
    throw std::invalid_argument("two tensors are named " + name);
}

void SafetensorsWriter::add(const std::string& name, Shape shape, std::vector<std::int64_t> values) {
  std::vector<std::byte> bytes = bytes_of(name, shape, values);
  if (!entries_.emplace(name, Entry{std::move(shape), true, std::move(bytes)}).second)
    throw std::invalid_argument("two tensors are named " + name);
}

void SafetensorsWriter::write(const std::string& path) const {
  nlohmann::json header = nlohmann::json::object();
  std::size_t offset = 0;
  for (const auto& [name, entry] : entries_) {
    header[name] = {{"dtype", entry.is_integer ? "I64" : "F32"},
                    {"shape", entry.shape},
                    {"data_offsets", {offset, offset + entry.bytes.size()}}};
    offset += entry.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + kHeaderAlignmentBytes - 1) / kHeaderAlignmentBytes * kHeaderAlignmentBytes, ' ');

  std::ofstream file(path, std::ios::binary);
  const auto length = static_cast<std::uint64_t>(text.size());
  file.write(reinterpret_cast<const char*>(&length), sizeof length);
  file << text;
  for (const auto& [name, entry] : entries_)
    file.write(reinterpret_cast<const char*>(entry.bytes.data()),
               static_cast<std::streamsize>(entry.bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace rangefinder::rtdetr
