// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/name_table.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

constexpr std::string_view kOtherText = "(other)";
constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
constexpr std::size_t kFirstIndex = 4096;

__extension__ using Wide = unsigned __int128;

std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) noexcept {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t load8(const char* from) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t load_up_to_8(const char* from, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

}  // namespace

// Multiplies and folds 16 bytes a step; the last step overlaps the one before it.
std::uint64_t hash_text(std::string_view text) noexcept {
  constexpr std::uint64_t kA = 0x9E3779B97F4A7C15, kB = 0xD6E8FEB86659FD93, kC = 0xA0761D6478BD642F;
  const char* at = text.data();
  const std::size_t bytes = text.size();
  std::uint64_t hash = kC ^ bytes;
  if (bytes < 8) return fold_product(hash ^ kA, load_up_to_8(at, bytes) ^ kB);
  const char* const end = at + bytes;
  for (; end - at > 16; at += 16) hash = fold_product(load8(at) ^ kA ^ hash, load8(at + 8) ^ kB);
  hash = fold_product(load8(bytes < 16 ? at : end - 16) ^ kA ^ hash, load8(end - 8) ^ kB);
  return fold_product(hash, kC);
}

NameTable::NameTable(LossLedger& loss) : loss_(loss) {
  size_.store(kOtherName, std::memory_order_relaxed);
}

NameTable::~NameTable() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  for (char* const block : blocks_) delete[] block;
}

const NameTable::Entry& NameTable::entry(std::uint32_t id) const noexcept {
  return chunks_[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
}

std::string_view NameTable::text(std::uint32_t id) const noexcept {
  if (id == kOtherName) return kOtherText;
  if (id == 0 || id > size()) return {};
  const Entry& found = entry(id);
  return {found.data, found.bytes};
}

std::uint32_t NameTable::intern(std::string_view text, std::uint64_t hash) noexcept {
  return text.size() > kMaxNameBytes ? intern_cut(text, hash) : intern_kept(text, hash, false);
}

[[gnu::noinline]] std::uint32_t NameTable::intern_cut(std::string_view text, std::uint64_t hash) noexcept {
  char kept[kMaxNameBytes];
  const std::string_view cut = cut_text(text, hash, kept);
  return intern_kept(cut, hash_text(cut), true);
}

std::uint32_t NameTable::intern_kept(std::string_view text, std::uint64_t hash, bool cut) noexcept {
  try {
    const HostLock lock(mutex_);
    if (!lock) {
      loss_.add(Loss::names_folded);
      return kOtherName;
    }
    const std::size_t mask = index_.size() - 1;
    for (std::size_t i = hash; !index_.empty() && index_[i & mask] != 0; ++i) {
      const Entry& known = entry(index_[i & mask]);
      if (known.hash == hash && std::string_view(known.data, known.bytes) == text) return index_[i & mask];
    }
    if (text == kOtherText) return kOtherName;
    const std::uint32_t id = add(text, hash);
    if (cut && id != kOtherName) loss_.add(Loss::names_truncated);
    return id;
  } catch (...) {
    loss_.add(Loss::names_folded);
    return kOtherName;
  }
}

// With mutex_ held; the text is new. Everything that can throw comes before the first lasting change.
std::uint32_t NameTable::add(std::string_view text, std::uint64_t hash) {
  const std::uint32_t id = size_.load(std::memory_order_relaxed) + 1;
  if (id > kMaxNames || text_bytes_ + text.size() > kMaxTextBytes) {
    loss_.add(Loss::names_folded);
    return kOtherName;
  }
  if (index_.size() < std::size_t{id} * 2) grow_index();
  std::atomic<Entry*>& chunk = chunks_[id / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new Entry[kChunk], std::memory_order_release);
  }
  const char* const data = store(text);
  chunk.load(std::memory_order_relaxed)[id % kChunk] = {hash, data, static_cast<std::uint32_t>(text.size())};
  std::size_t i = hash;
  while (index_[i & (index_.size() - 1)] != 0) ++i;
  index_[i & (index_.size() - 1)] = id;
  size_.store(id, std::memory_order_release);
  return id;
}

void NameTable::grow_index() {
  std::vector<std::uint32_t> bigger(std::max(kFirstIndex, index_.size() * 2));
  for (const std::uint32_t id : index_) {
    if (id == 0) continue;
    std::size_t i = entry(id).hash;
    while (bigger[i & (bigger.size() - 1)] != 0) ++i;
    bigger[i & (bigger.size() - 1)] = id;
  }
  index_.swap(bigger);
}

char* NameTable::store(std::string_view text) {
  if (blocks_.empty() || block_used_ + text.size() > kBlockBytes) {
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back(new char[kBlockBytes]);
    block_used_ = 0;
  }
  char* const at = blocks_.back() + block_used_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  block_used_ += text.size();
  text_bytes_ += text.size();
  return at;
}

}  // namespace rangefinder
