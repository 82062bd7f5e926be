// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/kept_answers.h"

#include <algorithm>
#include <utility>

namespace rangefinder {
namespace {

constexpr std::size_t kMaxKept = 32;
constexpr std::size_t kMaxKeptBytes = std::size_t{128} << 20;

}  // namespace

KeptAnswers::SharedAnswer KeptAnswers::get(const IndexedTrace& trace, const std::string& name,
                                           const Make& make) {
  const std::lock_guard lock(mutex_);
  const std::string key = name + "\n" + trace.state;
  if (SharedAnswer answer = find(key)) return answer;
  WholeTrace& rows = whole(trace);
  return keep(key, {make(rows), rows.totals().read.damage});
}

KeptAnswers::SharedAnswer KeptAnswers::find(const std::string& key) {
  const auto at =
      std::find_if(kept_.begin(), kept_.end(), [&key](const Kept& one) { return one.key == key; });
  if (at == kept_.end()) return nullptr;
  kept_.splice(kept_.begin(), kept_, at);
  return kept_.front().answer;
}

KeptAnswers::SharedAnswer KeptAnswers::keep(const std::string& key, Answer answer) {
  kept_.push_front({key, std::make_shared<const Answer>(std::move(answer))});
  std::size_t bytes = 0, n = 0;
  const auto first_too_many = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    bytes += one.answer->text.size();
    return ++n > 1 && (n > kMaxKept || bytes > kMaxKeptBytes);
  });
  kept_.erase(first_too_many, kept_.end());
  return kept_.front().answer;
}

WholeTrace& KeptAnswers::whole(const IndexedTrace& trace) {
  if (whole_ == nullptr || state_ != trace.state) {
    whole_.reset();  // before the next one takes memory
    whole_ = std::make_unique<WholeTrace>(trace.files, columns_);
    state_ = trace.state;
  }
  return *whole_;
}

}  // namespace rangefinder
