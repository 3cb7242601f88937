// The check that bundles serve all of some problems, and of the application's own programs, on all of some devices.
#pragma once

#include <clbake/builder/release/served.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::release {

// A problem, or a program of the application's own.
struct Subject {
  std::string name;  // "single nn 64x64x64", or the program's
  std::string kind;  // "single nn", or "program"
  double weight = 1;
  std::optional<Shape> shape;  // nothing for a program
};

// The problems, then the programs of the bundles by name. Fails with what is wrong with a record.
Result<std::vector<Subject>> subjects_of(const std::vector<Shape>& shapes, const std::vector<Bundle>& bundles);

// The devices of the targets with entries in one of the bundles, each once. Fails with what is wrong with a record.
Result<std::vector<ServedDevice>> devices_of(const std::vector<Bundle>& bundles);

// Requirements on the program of each subject.
struct Requirements {
  bool baked = true;  // a program of the bundle; else compiling from its source is enough
  bool native = false;
  bool proven = false;
  bool jit_free = false;
  bool tried = false;         // of a program: each of its kernels has a trial at each of its listed sizes
  bool listed = false;        // of a program: its source has no other kernels, as far as is known
  bool newer_driver = false;  // as Options::newer_driver of the application
};

// The first requirement that is not met.
enum class Lack { none, any_variant, program, native_code, proof, jit_freedom, trial, listing };

// "nothing serves", "compiled from source", "not native", "not proven", "not JIT-free", "not tried", "not listed"; ""
// for none.
const char* name(Lack lack);

Lack lack_of(const Served& served, const Requirements& requirements);

// The code of the failure or of the miss; ok when the program is there, but does not meet a requirement.
Code code_of(const Served& served);

// Why, for a person; names the variant. Empty for Lack::none.
std::string why(const Served& served, Lack lack);

struct CheckedDevice {
  ServedDevice device;
  Serving serving;             // owns what `served` points to
  std::vector<Served> served;  // by subject
};

// The answers of a library with these bundles, in the order of `devices`. Fails with out_of_memory.
Result<std::vector<CheckedDevice>> check(const std::vector<Bundle>& bundles, const std::vector<ServedDevice>& devices,
                                         const std::vector<Subject>& subjects, bool newer_driver);

// Subjects that lack the same for the same reason.
struct MissingGroup {
  Lack lack = Lack::none;
  Code code = Code::ok;
  std::string why;                    // of the first one
  std::size_t count = 0;              // pairs of a subject and a device
  std::set<std::string> kinds;        // of the subjects
  std::vector<std::size_t> devices;   // indices, ascending
  std::vector<std::size_t> subjects;  // indices, those with the largest weights first
};

// The largest first; none when nothing is missing.
std::vector<MissingGroup> group_missing(const std::vector<CheckedDevice>& devices, const std::vector<Subject>& subjects,
                                        const Requirements& requirements);

}  // namespace clbake::builder::release
