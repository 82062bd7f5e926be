// SPDX-License-Identifier: Apache-2.0
//
// Gaps in order of time, in four to six bytes each. A GPU may have as many idle gaps as kernels.
//
//   busy, idle, busy, idle, …     two numbers of variable length a gap, in blocks that can be searched
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/huge_pages.h"

namespace rangefinder {

struct Gap {
  TimeNs from_ns = 0, to_ns = 0;
  [[nodiscard]] std::uint64_t ns() const noexcept { return static_cast<std::uint64_t>(to_ns - from_ns); }
};

class GapList {
 public:
  /// `from_ns` is not before the end of the last gap; one that begins there becomes a part of it.
  void add(TimeNs from_ns, TimeNs to_ns);

  /// Reads gaps from a place on. The list must not change meanwhile.
  class Reader {
   public:
    explicit Reader(const GapList& list) : list_(&list) {}
    /// False: there is none left.
    bool next(Gap& gap);
    /// next() goes on at the first block that may have a gap which ends after `time`.
    void seek(TimeNs time);

   private:
    const GapList* list_;
    std::size_t at_ = 0;  // in bytes_
    TimeNs end_ns_ = 0;   // of the gap before
    bool last_ = false;   // the last one, which is not in bytes_, was read
  };

  template <typename See>
  void each(See&& see) const {
    Reader reader(*this);
    for (Gap gap; reader.next(gap);) see(static_cast<const Gap&>(gap));
  }

 private:
  static constexpr std::size_t kBlockGaps = 256;
  struct Block {
    TimeNs end_ns = 0;   // of the gap before
    std::size_t at = 0;  // in bytes_
  };
  void write(std::uint64_t number);

  std::vector<unsigned char, HugePages<unsigned char>> bytes_;
  std::vector<Block> blocks_;
  std::size_t count_ = 0;  // in bytes_
  TimeNs end_ns_ = 0;      // of the last gap in bytes_
  Gap last_;               // may still grow
  bool any_ = false;
};

/// Tests whether a time span overlaps a gap. Fast if spans come in order of start.
class GapSearch {
 public:
  explicit GapSearch(const GapList& gaps) : reader_(gaps) {}
  [[nodiscard]] bool overlaps(TimeNs start, TimeNs end);

 private:
  GapList::Reader reader_;
  Gap gap_;  // the first that ends after the start of the last span
  bool has_gap_ = false;
  TimeNs start_ns_ = kMaxNs;  // of the last span: the first one needs a search
};

}  // namespace rangefinder
