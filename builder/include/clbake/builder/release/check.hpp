// The check that a bundle serves all of some problems on all of some devices.
#pragma once

#include <clbake/builder/release/served.hpp>

#include <set>
#include <string>
#include <vector>

namespace clbake::builder::release {

// Requirements on the program of each problem.
struct Requirements {
  bool baked = true;  // a program of the bundle; else compiling from its source is enough
  bool native = false;
  bool proven = false;
  bool jit_free = false;
  bool newer_driver = false;  // as Options::newer_driver of the application
};

// The first requirement that is not met.
enum class Lack { none, any_variant, program, native_code, proof, jit_freedom };

// "nothing serves", "compiled from source", "not native", "not proven", "not JIT-free"; "" for none.
const char* name(Lack lack);

Lack lack_of(const Served& served, const Requirements& requirements);

// The code of the failure or of the miss; ok when the program is there, but does not meet a requirement.
Code code_of(const Served& served);

// Why, for a person; names the variant. Empty for Lack::none.
std::string why(const Served& served, Lack lack);

struct CheckedDevice {
  ServedDevice device;
  Serving serving;             // owns what `served` points to
  std::vector<Served> served;  // by shape
  std::vector<Served> own;     // the application's own programs, in the bundle's order
};

// In the order of `devices` and `shapes`; with the application's own programs of the bundle. Fails with out_of_memory,
// or with what is wrong with a program's record.
Result<std::vector<CheckedDevice>> check(const Bundle& bundle, const std::vector<ServedDevice>& devices,
                                         const std::vector<Shape>& shapes, bool newer_driver);

// Problems that lack the same for the same reason.
struct MissingGroup {
  Lack lack = Lack::none;
  Code code = Code::ok;
  std::string why;                   // of the first one
  std::size_t count = 0;             // pairs of a problem and a device
  std::set<GemmKind> kinds;          // of the problems
  std::vector<std::size_t> devices;  // indices, ascending
  std::vector<std::size_t> shapes;   // indices, those with the largest weights first
};

// The largest first; none when nothing is missing.
std::vector<MissingGroup> group_missing(const std::vector<CheckedDevice>& devices, const std::vector<Shape>& shapes,
                                        const Requirements& requirements);

}  // namespace clbake::builder::release
