// A manifest to begin with: what it says of a source's text, and that it can be read.
#include <clbake/builder/program_skeleton.hpp>
#include <clbake/builder/programs.hpp>

#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

namespace clbake::builder::test {
using namespace program;
namespace {

struct Folder {
  process::ScratchDirectory directory = required(process::ScratchDirectory::create());

  Result<Skeleton> skeleton(const std::string& text, const std::string& options = {}) const {
    write_file(directory.path() + "/app.cl", text);
    return program_skeleton({{directory.path() + "/app.cl"}, options, directory.path(), nullptr});
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(EachParameterGetsAPlausibleArgument) {
  const struct {
    const char *parameter, *argument;
  } kCases[] = {
      {"global float* restrict x", R"({"buffer":"float","count":4096})"},
      {"__global const unsigned int *x", R"({"buffer":"uint","count":4096})"},
      {"constant uchar4* x", R"({"buffer":"uchar4","count":4096})"},
      {"global struct body* x", R"({"buffer":"bytes","count":4096})"},
      {"__local double* x", R"({"local":4096})"},
      {"const int n", R"({"scalar":"int","value":64})"},
      {"float2 v", R"({"scalar":"float2","value":[1,1]})"},
      {"read_only image2d_t i", R"({"image":"2d","order":"RGBA","type":"FLOAT","width":64,"height":64})"},
      {"__write_only image3d_t i", R"({"image":"3d","order":"RGBA","type":"FLOAT","width":64,"height":64,"depth":64})"},
      {"sampler_t s", R"({"sampler":{"normalized":false,"addressing":"CLAMP_TO_EDGE","filter":"NEAREST"}})"},
  };
  const Folder folder;
  for (const auto& [parameter, argument] : kCases) {
    const Skeleton made = required(folder.skeleton("kernel void f(" + std::string(parameter) + ") {}"));
    BOOST_TEST(contains(made.manifest, "\"arguments\":[" + std::string(argument) + "]"), made.manifest);
  }
}

BOOST_AUTO_TEST_CASE(TheManifestIsRead) {
  const Folder folder;
  const Skeleton made =
      required(folder.skeleton("// kernel void no() {}\n__kernel /*" + std::string(400000, '-') +
                                   "*/ __attribute__((reqd_work_group_size(8, 4, 1))) void a(global int* x, int n) {}\n"
                                   "kernel\nvoid b(void);\nkernel void b() {}\n",
                               "-DX=\"1\""));
  const std::vector<Program> programs = required(parse_programs(made.manifest, "m", folder.directory.path()));
  BOOST_REQUIRE_EQUAL(programs.size(), 1U);
  BOOST_TEST(programs[0].failure == "");
  BOOST_TEST(programs[0].name == "app");
  BOOST_TEST(programs[0].options == "-DX=\"1\"");
  BOOST_REQUIRE_EQUAL(programs[0].launches.size(), 2U);
  BOOST_TEST(programs[0].launches[0].kernel_name == "a");
  BOOST_TEST(programs[0].launches[0].local[0] == 8U);
  BOOST_TEST(programs[0].launches[0].local[1] == 4U);
  BOOST_TEST(programs[0].launches[1].kernel_name == "b");
}

BOOST_AUTO_TEST_CASE(AKernelWithAStructHasNoTrial) {
  const Skeleton made = required(Folder().skeleton("kernel void f(global int* x, struct shape s) {}"));
  BOOST_TEST(contains(made.manifest, "\"trials\":[]"));
  BOOST_REQUIRE_EQUAL(made.remarks.size(), 1U);
  BOOST_TEST(made.remarks[0] ==
             "kernel f has no trial, as its argument 1 is a struct (shape): \"bytes\" states its content");
}

BOOST_AUTO_TEST_CASE(ASizeThatNoDeviceHasIsNone) {
  const Skeleton made = required(Folder().skeleton(
      "kernel __attribute__((reqd_work_group_size(99999999999999999999999, 1, 1))) void f(int n) {}"));
  BOOST_TEST(contains(made.manifest, "\"work_group_sizes\":[[64]]"));
}

BOOST_AUTO_TEST_CASE(AFileWithoutKernelsIsNamed) {
  const Folder folder;
  const Result<Skeleton> none = folder.skeleton("int x;\n");
  BOOST_TEST(contains(none.status().message(), "app.cl: has no kernel"));
}

}  // namespace clbake::builder::test
