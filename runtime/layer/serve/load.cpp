#include "serve/load.hpp"

#include "down.hpp"
#include "log.hpp"
#include "opencl/cl.hpp"
#include "program/build_text.hpp"
#include "program/source_digest.hpp"
#include "serve/catalogue.hpp"
#include "serve/pocl_memory.hpp"

#include <clbake/added_options.hpp>
#include <clbake/joined.hpp>

#include <algorithm>
#include <map>

namespace clbake::layer::serve {
namespace {

std::shared_ptr<const OverlayProgram> overlay_program(const ContentDigest& digest, const BakedBinary& binary) {
  const std::vector<std::string>& functions = binary.proof.specialisations;
  if (!binary.from_overlay || functions.empty()) return nullptr;  // only PoCL's programs list functions
  auto program = std::make_shared<OverlayProgram>();
  program->digest = digest;
  program->functions.insert(functions.begin(), functions.end());
  for (const cache::Launch& launch : binary.variant.launches) program->launched.insert(launch.kernel_name);
  return program;
}

cl_build_status status_of(const Baked& baked, cl_device_id device) {
  cl_build_status status = CL_BUILD_NONE;
  static_cast<void>(
      down().clGetProgramBuildInfo(baked.program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
  return status;
}

// `failed`: for each binary, as far as the driver says. A program's only binary fails with it.
Status rejected(const Loaded& loaded, cl_int error, const std::vector<bool>& failed) {
  if (error == CL_SUCCESS) error = CL_BUILD_PROGRAM_FAILURE;  // which some drivers keep to themselves
  const Status why = opencl_status("the driver rejects the baked program", error);
  if (why.code() == Code::out_of_memory) return why;  // says nothing of the program
  const bool blames_binary = error == CL_INVALID_BINARY || error == CL_BUILD_PROGRAM_FAILURE;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    const DeviceBuild& build = loaded.baked->builds[i];
    if (failed[i] || (failed.size() == 1 && blames_binary))
      reject_binary(*build.digest, build.device, loaded.binaries[i]);
  }
  return {Code::driver_rejected, why.message(), error};
}

// Empty where they are gone: a build from source has to answer.
std::vector<cache::Bytes> read_binaries(const Baked& baked) {
  std::vector<cache::Bytes> found;
  for (const DeviceBuild& build : baked.builds) {
    Result<BakedBinary> binary = find_binary(*build.digest, build.device);
    if (!binary) return {};
    found.push_back(std::move(binary->program));
  }
  return found;
}

// For the log: "program content-0123456789ab (1234 bytes, options '-DX')".
std::string description_of(const ProgramText& text, const std::string& options, const Result<ContentDigest>& digest) {
  std::size_t bytes = text.il.size();
  for (const std::string& source : text.sources) bytes += source.size();
  const std::string name = digest ? content_name(*digest).substr(0, 20) : std::string("of no digest");
  const std::string size = text.parts.empty() ? joined({bytes, " bytes"}) : joined({text.parts.size(), " parts"});
  return joined({"program ", name, " (", size, ", options '", options, "')"});
}

struct Known {
  std::string file;
  std::string options;
};

using BySource = std::multimap<ContentDigest, Known>;

void add_programs(BySource& all, const ServingBundle& serving) {
  const Bundle& bundle = serving.bundle;
  for (std::uint32_t i = 0; i < bundle.variant_count(); ++i) {
    const Result<cache::Variant> variant = bundle.variant(i);
    if (!variant || variant->content == cache::no_content) continue;
    const Result<cache::Source> source = bundle.source(variant->source);
    const Result<ProgramText> text = source ? decode_program_text(source->text) : source.status();
    if (text) all.emplace(source_digest(*text), Known{serving.file, variant->build_options});
  }
}

const BySource& known_programs() {
  static const auto& all = *new BySource([] {
    BySource programs;
    for (const ServingBundle& serving : serving_bundles()) add_programs(programs, serving);
    return programs;
  }());
  return all;
}

std::ptrdiff_t common_beginning(const std::string& a, const std::string& b) {
  return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

// For the log, about a program whose content no bundle has: which bundle has its source, and with which options, as in
// "; app.clbake has this source with options '-DX'". Empty if none has. The first call reads the sources of all
// bundles.
std::string closest_to(const ProgramText& text) {
  const auto [first, last] = known_programs().equal_range(source_digest(text));
  if (first == last) return {};
  const Result<ProgramText> whole = self_contained(text);
  const std::string& options = whole ? whole->options : text.options;  // as in bundles
  const auto same = std::find_if(first, last, [&](const auto& known) { return known.second.options == options; });
  if (same != last) {
    return joined({"; ", same->second.file, " has this source with these options, but ",
                   text.parts.empty() ? "another included file or end" : "parts with other options or included files"});
  }
  const Known& closest =
      std::max_element(first, last, [&](const auto& a, const auto& b) {
        return common_beginning(a.second.options, options) < common_beginning(b.second.options, options);
      })->second;
  return joined({"; ", closest.file, " has this source with options '", closest.options, "'"});
}

}  // namespace

bool has(const std::vector<cl_device_id>& devices, cl_device_id device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

Result<ContentDigest> digest_of(const ProgramText& text) {
  if (Status seen = no_added_options(); !seen) return seen;
  return content_digest(text);
}

std::vector<DeviceBuild> builds_for(const std::vector<cl_device_id>& devices, const std::string& options,
                                    const Result<ContentDigest>& digest) {
  std::vector<DeviceBuild> builds;
  for (const cl_device_id device : devices) {
    builds.push_back({device, options, digest ? std::optional<ContentDigest>(*digest) : std::nullopt, {}, nullptr});
  }
  return builds;
}

Result<Loaded> load_baked(cl_context context, std::vector<DeviceBuild> builds) {
  Loaded loaded;
  std::vector<cache::Bytes> bytes;
  std::vector<const unsigned char*> pointers;
  std::vector<std::size_t> sizes;
  std::vector<cl_device_id> on;
  for (DeviceBuild& build : builds) {
    Result<BakedBinary> binary = find_binary(*build.digest, build.device);
    if (!binary) return binary.status();
    place_in_memory(binary->program, binary->checksum);
    bytes.push_back(std::move(binary->program));
    pointers.push_back(bytes.back().data());
    sizes.push_back(bytes.back().size());
    on.push_back(build.device);
    build.log = binary->proof.log;
    build.overlay = overlay_program(*build.digest, *binary);
    loaded.binaries.push_back(std::move(*binary));
  }
  auto baked = std::make_shared<Baked>();
  std::vector<cl_int> statuses(on.size(), CL_SUCCESS);
  cl_int error = CL_SUCCESS;
  baked->program = down().clCreateProgramWithBinary(context, static_cast<cl_uint>(on.size()), on.data(), sizes.data(),
                                                    pointers.data(), statuses.data(), &error);
  baked->builds = std::move(builds);
  loaded.baked = std::move(baked);
  std::vector<bool> failed;
  for (const cl_int status : statuses) {
    failed.push_back(status != CL_SUCCESS);
    if (error == CL_SUCCESS) error = status;
  }
  if (error != CL_SUCCESS || !loaded.baked->program) return rejected(loaded, error, failed);
  return loaded;
}

bool is_built(const Baked& baked) {
  return std::all_of(baked.builds.begin(), baked.builds.end(),
                     [&](const DeviceBuild& build) { return status_of(baked, build.device) == CL_BUILD_SUCCESS; });
}

Status rejected(const Loaded& loaded, cl_int error) {
  std::vector<bool> failed;
  for (const DeviceBuild& build : loaded.baked->builds) {
    failed.push_back(status_of(*loaded.baked, build.device) != CL_BUILD_SUCCESS);
  }
  return rejected(loaded, error, failed);
}

cl_int build(const Baked& baked, void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  std::vector<cl_device_id> on;
  for (const DeviceBuild& one : baked.builds) on.push_back(one.device);
  return down().clBuildProgram(baked.program, static_cast<cl_uint>(on.size()), on.data(), nullptr, notify, data);
}

Status build_baked(const Loaded& loaded) {
  const cl_int error = build(*loaded.baked);
  return error == CL_SUCCESS && is_built(*loaded.baked) ? Status() : rejected(loaded, error);
}

cl_int build_source(cl_program program, const std::vector<DeviceBuild>& builds) {
  cl_int error = CL_SUCCESS;
  for (auto next = builds.begin(); error == CL_SUCCESS && next != builds.end();) {
    const std::string& options = next->options;
    std::vector<cl_device_id> on;
    for (; next != builds.end() && next->options == options; ++next) on.push_back(next->device);
    error =
        down().clBuildProgram(program, static_cast<cl_uint>(on.size()), on.data(), options.c_str(), nullptr, nullptr);
  }
  return error;
}

const std::vector<cache::Bytes>* binaries_of(const Baked& baked) {
  const std::lock_guard<std::mutex> lock(baked.mutex);
  if (!baked.binaries) baked.binaries = read_binaries(baked);
  return baked.binaries->empty() ? nullptr : &*baked.binaries;
}

cl_program source_of(Program& program, const std::string& why) {
  const std::shared_ptr<const Baked> baked = program.served();
  if (!baked) return program.handle;
  const std::lock_guard<std::mutex> lock(program.source_mutex);
  if (program.source) return program.source;
  const DeviceBuild& first = baked->builds.front();
  if (logs()) {
    log(joined({description_of(program.text, first.options, *first.digest), " is compiled after all: ", why}));
  }
  if (!baked->is_the_applications) {
    if (build_source(program.handle, baked->builds) == CL_SUCCESS) program.source = program.handle;
    return program.source;
  }
  std::vector<cl_device_id> on;
  for (const DeviceBuild& build : baked->builds) on.push_back(build.device);
  const auto linked = TextBuilder(program.context, on).make(program.text, program.text.options, false);
  if (linked) down().clRetainProgram((*linked)());
  return program.source = linked ? (*linked)() : nullptr;
}

void log_served(const ProgramText& text, const Result<ContentDigest>& digest, const Loaded& loaded) {
  if (!logs()) return;
  log(joined({description_of(text, text.options, digest), " is from ", origin_of(loaded.binaries.front())}));
}

void log_miss(const ProgramText& text, const Result<ContentDigest>& digest, const Status& why) {
  if (!logs()) return;
  const std::string closest = why.code() == Code::no_program ? closest_to(text) : std::string();
  log(joined({description_of(text, text.options, digest), " is compiled by the driver: ", why.message(), closest}));
}

cl_int compile_deferred(Program& program) {
  const std::lock_guard<std::mutex> lock(program.source_mutex);
  std::shared_ptr<const Compilation> wanted;
  {
    const std::lock_guard<std::mutex> fields(program.mutex);
    wanted = program.compilation;
  }
  if (!wanted || !wanted->deferred) return CL_SUCCESS;
  const Status compiled = TextBuilder(program.context, wanted->devices)
                              .compile(cl::Program(program.handle, true), wanted->text, wanted->text.options);
  auto done = std::make_shared<Compilation>(*wanted);
  done->deferred = false;
  const std::lock_guard<std::mutex> fields(program.mutex);
  program.compilation = std::move(done);
  return compiled ? CL_SUCCESS : compiled.opencl_code();
}

}  // namespace clbake::layer::serve
