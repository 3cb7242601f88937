// All of a bundle's programs are known before the first one is compressed. Of programs that are much alike (those of
// one variant for several drivers, those of similar variants for one driver) most are compressed with one of the others
// as their dictionary.
#include <clbake/cache/pack.hpp>
#include <clbake/cache/xxh64.hpp>
#include <clbake/exceptions_to_status.hpp>

#include "pack/dictionaries.hpp"
#include "write/canonical.hpp"

#include <zstd.h>
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

namespace clbake::cache {
namespace {

using EntryRecord = CanonicalContents::EntryRecord;

// An entry's neighbours are this many entries of the same target with the next names of variants, and this many of the
// same variant for the next targets: names and programs resemble each other together. A bound, lest the time grow with
// the square of a bundle's size.
constexpr std::size_t kWindow = 32;

// A program that nearly equals its dictionary leaves little to compress: level 19 gains nothing and takes ten times as
// long.
constexpr int kLevelOfNearCopies = 9;
constexpr std::uint64_t kNearCopy = kSketchHashes * 3 / 4;

// Calls work(i, thread) for i in 0 .. count-1, in any order; `thread` is below `threads` and different for calls at the
// same time. The caller's thread is number 0 and calls between(done) after each of its own. Ends early when one of them
// fails, and returns one of the failures.
template <typename Work, typename Between>
Status parallel_for(std::size_t count, unsigned threads, Work work, Between between) {
  std::atomic<std::size_t> next{0}, done{0};
  std::vector<Status> statuses(threads);
  const auto run = [&](unsigned thread) {
    Status& status = statuses[thread];
    for (std::size_t i = next++; i < count; i = next++) {
      status = exceptions_to_status([&]() -> Status {
        Status worked = work(i, thread);
        ++done;
        return worked && thread == 0 ? between(done.load()) : worked;
      });
      if (!status) next = count;
    }
  };
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < std::min<std::size_t>(threads, count); ++thread) {
    // Without a further thread, the others do its part.
    if (!exceptions_to_status([&]() -> Status { return others.emplace_back(run, thread), Status(); })) break;
  }
  run(0);
  for (std::thread& other : others) other.join();
  const auto failed = std::find_if(statuses.begin(), statuses.end(), [](const Status& status) { return !status; });
  return failed == statuses.end() ? Status() : *failed;
}

ByteView program_of(const EntryRecord& entry) {
  return {entry.original->program.data(), entry.original->program.size()};
}

class Packer {
 public:
  Packer(const CanonicalContents& contents, const PackOptions& options)
      : contents_(contents),
        options_(options),
        threads_(options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())) {}

  Result<Bytes> run() {
    find_items();
    find_neighbours();
    Status status = parallel_for(
        items_.size(), threads_,
        [this](std::size_t i, unsigned) {
          items_[i].sketch = sketch_of(items_[i].program);
          return Status();
        },
        [this](std::size_t) { return check_cancel(); });
    if (!status) return status;
    dictionaries_ = choose_dictionaries(items_);
    if (status = compress_all(); !status) return status;
    return encode_canonical(contents_, packed_programs(), options_.digest);
  }

 private:
  // Equal programs become one item.
  void find_items() {
    std::unordered_multimap<std::uint64_t, std::uint32_t> known;  // items by checksum
    for (std::uint32_t e = 0; e < contents_.entries.size(); ++e) {
      const ByteView program = program_of(contents_.entries[e]);
      const std::uint64_t checksum = xxh64(program.data, program.size, 0);
      const auto [begin, end] = known.equal_range(checksum);
      const auto same = std::find_if(begin, end, [&](const auto& item) {
        const ByteView other = items_[item.second].program;
        return other.size == program.size && std::memcmp(other.data, program.data, program.size) == 0;
      });
      if (same != end) {
        item_of_.push_back(same->second);
        continue;
      }
      item_of_.push_back(static_cast<std::uint32_t>(items_.size()));
      known.emplace(checksum, item_of_.back());
      first_entry_.push_back(e);
      items_.push_back({program, {}, {}});
    }
  }

  void find_neighbours() {
    std::vector<std::uint32_t> entries(contents_.entries.size());  // in the order of the file: by target, then variant
    for (std::uint32_t e = 0; e < entries.size(); ++e) entries[e] = e;
    connect(entries, false);
    connect(entries, true);
    for (PackItem& item : items_) {
      std::sort(item.neighbours.begin(), item.neighbours.end());
      item.neighbours.erase(std::unique(item.neighbours.begin(), item.neighbours.end()), item.neighbours.end());
    }
  }

  // Makes neighbours of what lies close together when the entries are sorted by target, then variant, or the other way.
  void connect(std::vector<std::uint32_t>& entries, bool by_variant) {
    const auto row = [&](std::uint32_t e) {
      const EntryRecord& entry = contents_.entries[e];
      return std::make_pair(entry.original->form, by_variant ? entry.variant : entry.target);
    };
    std::stable_sort(entries.begin(), entries.end(), [&](auto a, auto b) { return row(a) < row(b); });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::uint32_t a = item_of_[entries[i]];
      for (std::size_t j = i + 1; j < entries.size() && j <= i + kWindow && row(entries[i]) == row(entries[j]); ++j) {
        const std::uint32_t b = item_of_[entries[j]];
        if (a == b) continue;
        items_[a].neighbours.push_back(b);
        items_[b].neighbours.push_back(a);
      }
    }
  }

  Status check_cancel() const {
    if (options_.cancel == nullptr || !options_.cancel->load()) return {};
    return {Code::cancelled, "interrupted while the programs were compressed"};
  }

  Status compress_all() {
    frames_.resize(items_.size());
    std::vector<std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)>> contexts;
    contexts.reserve(threads_);  // growing could fail between a context and its owner
    for (unsigned thread = 0; thread < threads_; ++thread) {
      contexts.emplace_back(ZSTD_createCCtx(), ZSTD_freeCCtx);
      if (contexts.back() == nullptr) return {Code::out_of_memory, "zstd: out of memory"};
    }
    const auto report = [this](std::size_t done) {
      if (options_.report) options_.report(done, items_.size());
      return check_cancel();
    };
    const Status status = parallel_for(
        items_.size(), threads_, [&](std::size_t i, unsigned thread) { return compress(i, contexts[thread].get()); },
        report);
    return status ? report(items_.size()) : status;
  }

  Status compress(std::size_t i, ZSTD_CCtx* context) {
    const ByteView program = items_[i].program;
    ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
    int level = kLevel;
    if (dictionaries_[i] != kNoDictionary) {
      const PackItem& dictionary = items_[dictionaries_[i]];
      ZSTD_CCtx_refPrefix(context, dictionary.program.data, dictionary.program.size);
      if (shared_part(items_[i].sketch, dictionary.sketch) >= kNearCopy) level = kLevelOfNearCopies;
    }
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    Bytes frame(ZSTD_compressBound(program.size));
    const std::size_t size = ZSTD_compress2(context, frame.data(), frame.size(), program.data, program.size);
    if (ZSTD_isError(size) != 0) return {Code::out_of_memory, std::string("zstd: ") + ZSTD_getErrorName(size)};
    if (size < program.size) frames_[i].assign(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
    return {};
  }

  std::vector<PackedProgram> packed_programs() const {
    std::vector<PackedProgram> programs;
    programs.reserve(item_of_.size());
    for (const std::uint32_t item : item_of_) {
      const std::uint32_t dictionary = dictionaries_[item];
      const bool has_dictionary = dictionary != kNoDictionary && !frames_[item].empty();
      programs.push_back(
          {{frames_[item].data(), frames_[item].size()}, has_dictionary ? first_entry_[dictionary] + 1 : 0});
    }
    return programs;
  }

  const CanonicalContents& contents_;
  const PackOptions& options_;
  unsigned threads_;
  std::vector<PackItem> items_;              // different programs
  std::vector<std::uint32_t> first_entry_;   // by item
  std::vector<std::uint32_t> item_of_;       // by entry
  std::vector<std::uint32_t> dictionaries_;  // by item
  std::vector<Bytes> frames_;                // by item; empty if the program is stored as it is
};

}  // namespace

Result<Bytes> pack(const Contents& contents, const PackOptions& options) {
  return exceptions_to_status([&]() -> Result<Bytes> {
    const Result<CanonicalContents> canonical = canonicalize(contents);
    if (!canonical) return canonical.status();
    return Packer(*canonical, options).run();
  });
}

}  // namespace clbake::cache
