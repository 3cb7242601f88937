// Programs beside the variants: clbake's own, and an application's: PROGRAMS.json, the manifest of `clbake build
// --programs`. BAKING.md, "Your own kernels", describes it.
#pragma once

#include <clbake/builder/jobs.hpp>
#include <clbake/kernels/defaults.hpp>
#include <clbake/program_text.hpp>

#include <string>
#include <vector>

namespace clbake::builder::program {

struct Program {
  std::string name;      // that of its content if the application gives none
  cache::Source source;  // with all that it includes: encode() of clbake/program_text.hpp, without the options
  std::string options;   // for clBuildProgram, or clLinkProgram
  std::vector<cache::Launch> launches;
  cache::ContentDigest content{};           // of what the application gives the driver; zeros: of clbake's own
  std::vector<cache::ContentDigest> parts;  // of the programs that it is linked of
  std::string trial;                        // of its job
  std::vector<std::string> files;  // paths of what it was read from: sources, what they include, contents of trials
  std::string remark;              // for the user; empty: none
  std::string failure;             // why it cannot be baked: a file that is missing, an include; else empty
};

// Reads the manifest, or programs.json of a folder, as of a recording, and the files that its programs name, relative
// to the manifest's folder. A program whose files cannot be read has a `failure`. Fails with not_found, io, or
// malformed; messages begin with the path and name the field.
Result<std::vector<Program>> read_programs(const std::string& path);

// The same of a text; messages begin with `name`.
Result<std::vector<Program>> parse_programs(const std::string& text, const std::string& name,
                                            const std::string& directory);

// The sources as OpenCL joins them.
std::string joined_sources(const ProgramText& text);

// Why the device cannot run the program: the kernel and its work-group size. Empty when it can, as far as is known
// before it is compiled.
std::string violation(const Program& program, const kernels::DeviceLimits& limits);

// Its variant on a device.
Job make_job(const Target& target, const Program& program);

// The kernels of a program's launches that no trial runs, each once, as "f"; "f at 64x1x1" where trials run it, but at
// other work-group sizes. `trial`: of its job. Fails with malformed.
Result<std::vector<std::string>> untried_kernels(const cache::Variant& program, const std::string& trial);

// "kernel a", "kernels a, b, c, d, e and 2 more". REQUIRES: at least one name.
std::string kernels_text(const std::vector<std::string>& names);

// The name as messages show it. Of a program named by its content the first 12 of 64 digits, "content-34f0c2967776",
// and, where the variant is known, its first kernels: "content-34f0c2967776 (f, g, h, ...)".
std::string shown_name(const std::string& name);
std::string shown_name(const cache::Variant& variant);

// Parts of a proof's note, up to a semicolon, begin with these.
inline constexpr const char* kUnlisted = "not listed: ";      // kernels of the program that the manifest does not list
inline constexpr const char* kUncompared = "not compared: ";  // kernels whose results vary too much to be judged
inline constexpr const char* kOnlyLoaded = "only loaded: ";   // why a proof could try nothing

// The rest of the part of the note that begins so; empty when the note has no such part.
std::string part_of(const std::string& note, const char* begin);

// The names of clbake's own programs begin with this, and no name of an application's.
inline constexpr const char* kOwnPrefix = "clbake-";

// The kernels that make a complex product a real one (kernels/complex.cl), as a program for each complex precision of
// the list, with trials whose results were computed here.
std::vector<Program> complex_programs(kernels::DeviceType type, const std::vector<Precision>& precisions);

}  // namespace clbake::builder::program
