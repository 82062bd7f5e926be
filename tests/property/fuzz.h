// SPDX-License-Identifier: Apache-2.0
//
// What the subcommands of `fuzz` share: the interface that main.cpp runs, and random numbers.
//
//   main.cpp: for each case   Random(seed, number) --> Fuzzer::check --> "", or what is wrong
//
// To add a subcommand: NAME_fuzz.cpp, a line in the table of main.cpp, a name in CMakeLists.txt. The files
// are compiled together in unity builds: local names must differ from file to file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>

namespace rangefinder::fuzz {

/// The numbers of one case. Seed and case decide them, the same on every machine
/// (std::uniform_int_distribution is not): a case can be run again without the others.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t number) : engine_(seed * 1'000'003 + number) {}
  [[nodiscard]] std::uint64_t any() { return engine_(); }
  /// In [0, end).
  [[nodiscard]] std::size_t below(std::size_t end) { return static_cast<std::size_t>(any() % end); }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename Array>
  [[nodiscard]] const auto& element(const Array& array) {
    return array[below(std::size(array))];
  }

 private:
  std::mt19937_64 engine_;
};

/// One subcommand. The constructor makes what all cases share; it may throw Skipped.
class Fuzzer {
 public:
  Fuzzer() = default;
  virtual ~Fuzzer() = default;
  Fuzzer(const Fuzzer&) = delete;
  Fuzzer& operator=(const Fuzzer&) = delete;

  /// What is wrong with this case, "" for nothing. An exception is a failure too.
  [[nodiscard]] virtual std::string check(Random& random) = 0;
  /// What is wrong with all cases together, after the last one.
  [[nodiscard]] virtual std::string finish() { return {}; }
};

/// Something that the subcommand needs is missing on this machine.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A new file: to replace the content of one waits for the disk on ext4.
inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

template <typename OneFuzzer>
std::unique_ptr<Fuzzer> made() {
  return std::make_unique<OneFuzzer>();
}

/// Defined in NAME_fuzz.cpp as &made<…>.
using MakeFuzzer = std::unique_ptr<Fuzzer>();
extern MakeFuzzer *const make_activity,
    *const make_control, *const make_image, *const make_nvtx, *const make_options,
                                                                  *const make_safetensors,
                                                                      *const make_sample_sharing,
                                                                          *const make_sampled_bound,
                                                                              *const make_segment_text,
                                                                                  *const make_trace;

}  // namespace rangefinder::fuzz
