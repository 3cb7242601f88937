// The application's own programs in the JSON of a release (release_data.cpp says what is where).
#pragma once

#include "report/release/release_report.hpp"

#include <clbake/builder/release/served.hpp>

#include <optional>
#include <string>
#include <vector>

namespace clbake::tool {

// The kind of program that serves: worse ones later.
enum class Source { native, portable, source, none };
inline constexpr const char* kSourceNames[] = {"native", "portable", "source", "none"};
inline constexpr std::size_t kSources = std::size(kSourceNames);

inline const char* name(Source source) { return kSourceNames[static_cast<std::size_t>(source)]; }
Source source_of(const builder::release::Served& served);

class ReleasePrograms {
 public:
  // Fails with what is wrong with a record.
  static Result<ReleasePrograms> create(const Release& release);

  // Names of either release, in their order.
  const std::vector<std::string>& names() const { return names_; }

  // A program on a target, now and in the last release.
  struct Row {
    std::string name;
    Source now = Source::none;
    std::optional<Source> before;  // none without a last release
    std::string why;               // what it lacks; empty: machine code, proven and JIT-free
    nlohmann::ordered_json json;
  };
  // By names(). `counts`: the target is one of this release. Fails with out_of_memory.
  Result<std::vector<Row>> rows(builder::release::Serving& now, std::optional<builder::release::Serving>& last,
                                bool counts);

  // Sums over the rows that count.
  nlohmann::ordered_json total() const;

 private:
  std::vector<std::string> names_;
  std::size_t by_source_[kSources] = {};
  std::size_t proven_ = 0, jit_free_ = 0;
};

}  // namespace clbake::tool
