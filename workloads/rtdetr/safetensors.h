// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing .safetensors: 8 bytes of header length, a JSON header, then the tensors' bytes.
//
// The reader maps the file and trusts nothing. It checks header length, offsets, overlaps and sizes against
// shapes before it touches a byte of a tensor. Reads F32, F16, BF16, F64, I32 and I64.
// Throws std::runtime_error with the file, the tensor and what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rangefinder::rtdetr {

using Shape = std::vector<std::int64_t>;  ///< outermost first; empty: a scalar

std::string shape_text(const Shape& shape);  ///< "[256, 64, 1, 1]"
std::int64_t element_count(const Shape& shape);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const;
  std::vector<std::string> names() const;  ///< sorted; without __metadata__
  bool has(const std::string& name) const;
  const Shape& shape(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const;           ///< F32, F16, BF16, F64, converted
  std::vector<std::int64_t> integers(const std::string& name) const;  ///< I32, I64

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

/// Collects tensors and writes them all at once.
class SafetensorsWriter {
 public:
  /// A second tensor of the same name throws std::invalid_argument.
  void add(const std::string& name, Shape shape, std::vector<float> values);
  void add(const std::string& name, Shape shape, std::vector<std::int64_t> values);
  void write(const std::string& path) const;

 private:
  struct Entry {
    Shape shape;
    bool is_integer = false;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace rangefinder::rtdetr
