// What the bundles of one release serve on one device.
#pragma once

#include "report/release/release_report.hpp"

#include <clbake/builder/release/served.hpp>

#include <string>
#include <utility>
#include <vector>

namespace clbake::tool {

// What serves a problem or a program: worse ones later.
enum class Source { native, portable, source, none };
inline constexpr const char* kSourceNames[] = {"native", "portable", "source", "none"};
inline constexpr std::size_t kSources = std::size(kSourceNames);

inline const char* name(Source source) { return kSourceNames[static_cast<std::size_t>(source)]; }
Source source_of(const builder::Served& served);

// A program of the application's own in the bundles of a release. The first bundle that has its name says which source
// is meant; others count with the same one, as in Library::program.
struct OwnProgram {
  std::string name;
  std::vector<std::pair<std::size_t, std::uint32_t>> places;  // bundle, variant
};

// In the order of their names. Fails with what is wrong with a record.
Result<std::vector<OwnProgram>> own_programs(const std::vector<ReleaseBundle>& bundles);

// Of what the bundles propose the best serves, as in a Library. One thread at a time; what it returns is valid as long
// as it is.
class Side {
 public:
  static Result<Side> create(const std::vector<ReleaseBundle>& bundles, const Target& target, bool newer_driver);

  Result<builder::Served> find(const builder::Shape& shape);

  // Fails with what is wrong with a record.
  Result<builder::Served> find(const OwnProgram& program);

 private:
  std::vector<builder::Serving> servings_;
};

}  // namespace clbake::tool
