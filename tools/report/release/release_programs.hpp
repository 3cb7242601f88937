// The application's own programs in the JSON of a release (release_data.cpp says what is where).
#pragma once

#include "report/release/release_side.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clbake::tool {

class ReleasePrograms {
 public:
  // Fails with what is wrong with a record.
  static Result<ReleasePrograms> create(const Release& release);

  // Of either release, in their order.
  std::vector<std::string> names() const;

  // A program on a target, now and in the last release.
  struct Row {
    std::string name;
    Source now = Source::none;
    std::optional<Source> before;  // none without a last release
    std::string why;               // what it lacks; empty: machine code, proven and JIT-free
    nlohmann::ordered_json json;
  };
  // By names(). `counts`: the target is one of this release. Fails with what is wrong with a record.
  Result<std::vector<Row>> rows(Side& now, std::optional<Side>& last, bool counts);

  // Of the rows that count.
  nlohmann::ordered_json total() const;

 private:
  struct Pair {
    std::string name;
    std::optional<OwnProgram> now, before;
  };
  std::vector<Pair> programs_;
  std::size_t by_source_[kSources] = {};
  std::size_t proven_ = 0, jit_free_ = 0;
};

}  // namespace clbake::tool
