// The learner with this machine's drivers: what it keeps loads in another process, gives the right results, and leaves
// PoCL nothing to compile.
#include "compile/cubins.hpp"
#include "compile/nvidia/cubin.hpp"
#include "learn/functions.hpp"
#include "learn/layer_end.hpp"
#include "selected_devices.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/builder/platforms.hpp>
#include <clbake/overlay_directory.hpp>
#include <clbake/platform.hpp>
#include <clbake/program_text.hpp>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

namespace clbake::builder::test {
namespace {

using clbake::learn::Request;
using tests::Layer;

constexpr std::size_t kItems = 256;

const std::string kSource = std::string("#include \"factor.h\"\n") + R"(
kernel void scale(global float* a) { a[get_global_id(0)] *= FACTOR; }
kernel void sum(global float* a, local float* part) {
  const size_t i = get_local_id(0);
  part[i] = a[get_global_id(0)];
  for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) part[i] += part[i + n];
  }
  if (i == 0) a[get_global_id(0)] = part[0];
}
)";

class Place {
 public:
  Place() {
    std::ofstream(directory_.file("factor.h")) << "#define FACTOR 2\n";
    text_.sources = {kSource};
    text_.options = "-I " + directory_.path;
  }

  std::string path(const std::string& name) const { return directory_.file(name); }
  OverlayKey key(const Target& target) const { return overlay_key(target, *content_digest(text_)); }

  // The kernel that adds up takes groups of 64, or the whole in one.
  void learn(const Target& target) const {
    Request request;
    request.target = target;
    request.digest = *content_digest(text_);
    request.program = encode(text_);
    request.launches = {{"scale", {}, true, true}, {"sum", {64, 1, 1}, true, true}, {"sum", {64, 1, 1}, true, false}};
    const Layer layer({CLBAKE_COMMAND, path("overlay"), 0, path("log")});
    layer.send(request);
    layer.end();
  }

  Result<Bundle> find(const Target& target) const {
    const Result<Overlay> overlay = Overlay::open({path("overlay"), OverlayMode::read_write});
    return overlay ? overlay->find(key(target)) : overlay.status();
  }

  std::string log() const {
    std::ifstream file(path("log"));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  tests::TemporaryDirectory directory_;
  ProgramText text_;
};

const std::string& driver_cache() {
  static const tests::TemporaryDirectory directory;
  return directory.path;
}

// Listed once: a driver asks for the place of its cache when its devices are listed.
const Result<std::vector<Device>>& all_devices() {
  static const Result<std::vector<Device>> found = [] {
    for (const auto& [name, value] : process::driver_cache_environment(driver_cache()))
      setenv(name.c_str(), value.c_str(), 1);
    return tests::selected_devices();
  }();
  return found;
}

// True where the driver gives machine code, or the learner has a tool that makes some of what the driver gives.
bool has_code(const Device& device) {
  if (!process::builder_platform_of(device.target).assembles) return tests::gives_machine_code(device);
  return compile::assemble(small_ptx(), device.target.architecture).status().code() != Code::no_device;
}

std::vector<Device> devices(bool with_machine_code) {
  std::vector<Device> some;
  for (const Device& device : *all_devices()) {
    if (has_code(device) == with_machine_code) some.push_back(device);
  }
  return some;
}

using boost::test_tools::assertion_result;
using boost::unit_test::precondition;
using boost::unit_test::test_unit_id;
assertion_result has_machine_code(test_unit_id) { return !devices(true).empty(); }
assertion_result has_other_binaries(test_unit_id) { return !devices(false).empty(); }

// 0, 1, 2 ... times two, then the sums of each group.
std::vector<float> run(const Device& device, const cl::Program& program, std::size_t group) {
  const cl::Device cl_device(device.id, true);
  const cl::Context context = program.getInfo<CL_PROGRAM_CONTEXT>();
  const cl::CommandQueue queue(context, cl_device);
  std::vector<float> numbers(kItems);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, kItems * sizeof(float), numbers.data());
  cl::Kernel scale(program, "scale");
  scale.setArg(0, buffer);
  cl::Kernel sum(program, "sum");
  sum.setArg(0, buffer);
  sum.setArg(1, cl::Local(group * sizeof(float)));
  BOOST_TEST(queue.enqueueNDRangeKernel(scale, cl::NullRange, cl::NDRange(kItems)) == CL_SUCCESS);
  BOOST_TEST(queue.enqueueNDRangeKernel(sum, cl::NullRange, cl::NDRange(kItems), cl::NDRange(group)) == CL_SUCCESS);
  BOOST_TEST(queue.enqueueReadBuffer(buffer, CL_TRUE, 0, kItems * sizeof(float), numbers.data()) == CL_SUCCESS);
  return numbers;
}

float sum_of(std::size_t first, std::size_t count) {
  float sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += 2.0F * static_cast<float>(i);
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatWasLearnedLoadsAndLeavesNothingToCompile, *precondition(has_machine_code)) {
  for (const Device& device : devices(true)) {
    const Place place;
    place.learn(device.target);
    const Result<Bundle> bundle = place.find(device.target);
    BOOST_REQUIRE_MESSAGE(bundle.ok(), device.target.platform_name << ": " << place.log());
    const Result<cache::Contents> contents = bundle->decode();
    BOOST_REQUIRE(contents.ok());
    const cache::Entry& entry = contents->entries.front();
    BOOST_TEST(entry.proof.jit_free, entry.proof.note);
    if (process::builder_platform_of(device.target).assembles) {
      BOOST_TEST(compile::cubin_architecture(entry.program) == device.target.architecture);
    }

    const std::vector<cl::Device> only = {cl::Device(device.id, true)};
    const cl::Context context(only);
    const cl::Program program(context, only, cl::Program::Binaries{entry.program});
    BOOST_REQUIRE(program.build(only) == CL_SUCCESS);
    const learn::Functions loaded = learn::functions_in(driver_cache());
    for (const std::size_t group : {std::size_t{64}, std::size_t{256}}) {
      const std::vector<float> found = run(device, program, group);
      for (std::size_t at = 0; at < kItems; at += group) BOOST_TEST(found[at] == sum_of(at, group));
    }
    BOOST_TEST((learn::functions_in(driver_cache()) == loaded));
    if (platform_of(device.target).binaries != Binaries::functions) continue;
    BOOST_TEST((loaded == learn::Functions{"sum 64-1-1-goffs0", "sum 64-1-1-goffs0-smallgrid"}));
  }
}

BOOST_AUTO_TEST_CASE(AnIntermediateLanguageIsNotKept, *precondition(has_other_binaries)) {
  for (const Device& device : devices(false)) {
    const Place place;
    place.learn(device.target);
    BOOST_TEST((place.find(device.target).status().code() == Code::no_entry));
    BOOST_TEST(place.log().find("intermediate language") != std::string::npos, place.log());
  }
}

}  // namespace clbake::builder::test

// Exit status 77, "skipped", without a device.
int main(int argc, char** argv) {
  const auto& devices = clbake::builder::test::all_devices();
  if (!devices) {
    std::printf("skipped: %s\n", devices.status().message().c_str());
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
