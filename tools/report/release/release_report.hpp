// A release for people: what its bundles serve on each device and driver, how fast, and what changed since the last
// one. A page is one HTML file that needs neither network nor anything beside it.
#pragma once

#include <clbake/builder/release/check.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clbake::tool {

// {"problem", "weight"}, or {"program"}.
nlohmann::ordered_json to_json(const builder::release::Subject& subject);

// {"missing", "code", "why", "variant", "origin", "chosen_by", "expected_us", "proven", "jit_free"}; null where there
// is no such thing. And "untried", the kernels of an application's program that no trial launches, if there are some.
// `lack`: what "missing" and "why" are about.
nlohmann::ordered_json to_json(const builder::release::Served& served, builder::release::Lack lack);

// [{"missing", "code", "count", "kinds", "targets", "subjects", "examples", "why"}]: of group_missing(); "subjects"
// counts them, of which "examples" are the heaviest.
nlohmann::ordered_json groups_json(const std::vector<builder::release::CheckedDevice>& devices,
                                   const std::vector<builder::release::Subject>& subjects,
                                   const builder::release::Requirements& requirements);

struct ReleaseBundle {
  std::string file;
  Bundle bundle;
};

struct Release {
  std::vector<ReleaseBundle> bundles;  // at least one, in the order in which the application opens them
  std::vector<ReleaseBundle> against;  // of the release before; empty: none to compare with
  std::vector<builder::Shape> shapes;  // what is asked for beside the application's own programs
  std::string shapes_file;             // where they are from; empty: standard_shapes()
  bool newer_driver = false;           // as Options::newer_driver
};

// Squares from 64 to 4096 of each kind.
std::vector<builder::Shape> standard_shapes(const std::vector<GemmKind>& kinds);

// Everything that the page shows (release_data.cpp says what is where). Its size depends on the number of targets, not
// on that of shapes and entries. Throws Failure for what is wrong with a record.
nlohmann::ordered_json release_data(const Release& release);

// The page of that JSON. Text of drivers in it cannot end up as markup.
std::string release_html(const nlohmann::ordered_json& data);

// True if the file begins as such a page does.
bool is_release_page(const std::string& path);

}  // namespace clbake::tool
