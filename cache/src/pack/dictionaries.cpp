// A dictionary must be readable alone, so programs divide into dictionaries, which have none, and the others, each with
// the dictionary that most resembles it. This is the facility location problem, and solved as usual: again and again,
// the program that saves most as a further dictionary becomes one, until none saves anything.
#include "pack/dictionaries.hpp"

#include "coding.hpp"
#include "format.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace clbake::cache {
namespace {

constexpr std::size_t kPieceBytes = 8;
constexpr std::size_t kPruneAt = 8 * kSketchHashes;  // hashes that are gathered before they are sorted

// Every step can be undone, so different pieces have different hashes.
std::uint64_t hash_of(std::uint64_t piece) {
  piece = (piece ^ piece >> 32) * 0xD6E8FEB86659FD93;
  piece = (piece ^ piece >> 32) * 0xD6E8FEB86659FD93;
  return piece ^ piece >> 32;
}

void keep_smallest(Sketch& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  if (hashes.size() > kSketchHashes) hashes.resize(kSketchHashes);
}

// A dictionary costs time at each reading: below this part of the program in common it is not worth it.
constexpr std::uint64_t kLeastShared = kSketchHashes / 8;

// Bytes before compression that the item should save with this dictionary; 0 if it must not have it.
std::uint64_t saving(const PackItem& item, const PackItem& dictionary) {
  const std::uint64_t size = item.program.size;
  if (dictionary.program.size > format::kMaxDictionaryBytes || dictionary.program.size > size + size / 4) return 0;
  const std::uint64_t shared = shared_part(item.sketch, dictionary.sketch);
  return shared < kLeastShared ? 0 : size * shared / kSketchHashes;
}

class Chooser {
 public:
  explicit Chooser(const std::vector<PackItem>& items)
      : users_(items.size()), is_dictionary_(items.size()), saved_(items.size()), choice_(items.size(), kNoDictionary) {
    for (std::uint32_t d = 0; d < items.size(); ++d) {
      for (const std::uint32_t i : items[d].neighbours) {
        const std::uint64_t saved = saving(items[i], items[d]);
        if (saved > 0) users_[d].push_back({i, saved});
      }
    }
  }

  std::vector<std::uint32_t> run() {
    // Gains only become smaller while dictionaries are added: one that is still the largest when it is computed again
    // is the largest of all. Of equal ones, the first item.
    std::priority_queue<std::pair<std::int64_t, std::int64_t>> queue;
    for (std::uint32_t d = 0; d < users_.size(); ++d) {
      if (!users_[d].empty()) queue.push({gain(d), -std::int64_t{d}});
    }
    while (!queue.empty()) {
      const auto d = static_cast<std::uint32_t>(-queue.top().second);
      queue.pop();
      const std::pair<std::int64_t, std::int64_t> now{gain(d), -std::int64_t{d}};
      if (now.first <= 0) continue;
      if (!queue.empty() && now < queue.top()) {
        queue.push(now);
      } else {
        add(d);
      }
    }
    return std::move(choice_);
  }

 private:
  struct User {
    std::uint32_t item;
    std::uint64_t saved;
  };

  // Bytes saved if `d` becomes a dictionary, which then has none itself.
  std::int64_t gain(std::uint32_t d) const {
    std::int64_t gain = -static_cast<std::int64_t>(saved_[d]);
    for (const User& user : users_[d]) {
      if (is_better(user)) gain += static_cast<std::int64_t>(user.saved - saved_[user.item]);
    }
    return gain;
  }

  bool is_better(const User& user) const { return !is_dictionary_[user.item] && user.saved > saved_[user.item]; }

  void add(std::uint32_t d) {
    is_dictionary_[d] = true;
    saved_[d] = 0;
    choice_[d] = kNoDictionary;
    for (const User& user : users_[d]) {
      if (!is_better(user)) continue;
      saved_[user.item] = user.saved;
      choice_[user.item] = d;
    }
  }

  std::vector<std::vector<User>> users_;  // by dictionary: who would have it
  std::vector<bool> is_dictionary_;
  std::vector<std::uint64_t> saved_;  // by item, with its present choice
  std::vector<std::uint32_t> choice_;
};

}  // namespace

Sketch sketch_of(ByteView program) {
  Sketch hashes;
  std::uint64_t limit = UINT64_MAX;  // larger ones are not among the smallest
  for (std::size_t i = 0; i + kPieceBytes <= program.size; ++i) {
    const std::uint64_t hash = hash_of(load64(program.data + i));
    if (hash > limit) continue;
    hashes.push_back(hash);
    if (hashes.size() < kPruneAt) continue;
    keep_smallest(hashes);
    if (hashes.size() == kSketchHashes) limit = hashes.back();
  }
  keep_smallest(hashes);
  return hashes;
}

std::uint64_t shared_part(const Sketch& a, const Sketch& b) {
  // Counts the smallest hashes of both programs together, and those in both.
  std::uint64_t seen = 0, both = 0;
  std::size_t i = 0, j = 0;
  for (; seen < kSketchHashes && i < a.size() && j < b.size(); ++seen) {
    const bool equal = a[i] == b[j];
    const bool first = a[i] < b[j];
    both += equal ? 1 : 0;
    i += equal || first ? 1 : 0;
    j += equal || !first ? 1 : 0;
  }
  seen = std::min<std::uint64_t>(kSketchHashes, seen + (a.size() - i) + (b.size() - j));
  // That share of the union is 2 * both / (seen + both) of each of two programs of equal size.
  return seen == 0 ? 0 : kSketchHashes * 2 * both / (seen + both);
}

std::vector<std::uint32_t> choose_dictionaries(const std::vector<PackItem>& items) { return Chooser(items).run(); }

}  // namespace clbake::cache
