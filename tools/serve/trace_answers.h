// SPDX-License-Identifier: Apache-2.0
//
// Answers about a trace, made on request and cached while the trace does not change.
//
//   IndexedTrace ─▶ the sections of `report`, the page, the exporter ─▶ text
//
// Reads one trace at a time over all threads, because reading takes memory and a core. Uses the functions of
// `report --json` and `report --html`, so the numbers are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "tools/serve/http.h"
#include "tools/serve/trace_index.h"

namespace rangefinder {

/// Any thread.
class TraceAnswers {
 public:
  using Text = std::shared_ptr<const std::string>;

  enum class Rows : std::uint8_t { modules, kernels, findings };
  /// JSON array of flat rows. All methods throw Missing.
  [[nodiscard]] Text rows(const IndexedTrace& trace, Rows which);
  [[nodiscard]] Text timeline(const IndexedTrace& trace, std::size_t stretches);
  /// The page of `report --html`.
  [[nodiscard]] Text page(const IndexedTrace& trace);
  /// For /metrics while no program runs.
  [[nodiscard]] Text metrics(const IndexedTrace& trace, std::size_t modules, std::size_t kernels);
  /// The export to Perfetto, streamed from an unlinked file.
  [[nodiscard]] HttpParts perfetto(const IndexedTrace& trace);

 private:
  struct Kept {
    std::string key;
    Text text;
  };
  [[nodiscard]] Text kept(const std::string& key);
  Text keep(const std::string& key, std::string text);
  [[nodiscard]] Text made(const std::string& key, const std::function<std::string()>& make);

  std::mutex reading_;    ///< held while a trace is read
  std::list<Kept> kept_;  // guarded by reading_; last used first
};

}  // namespace rangefinder
