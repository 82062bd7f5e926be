// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_lines.h"

namespace rangefinder {

void RankLines::read(const EachRows& each) {
  bool first = true;
  const auto read_rank = [this](const SelectedRows& rows) { work_.add(rows); };
  if (section_ != nullptr) {
    section_->read([&](const auto& see) {
      each([&](const SelectedRows& rows) {
        see(rows);
        if (first) read_rank(rows);
      });
      first = false;
    });
  } else {
    each(read_rank);
  }
  work_.finish();
}

}  // namespace rangefinder
