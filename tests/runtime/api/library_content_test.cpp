// Programs by content on a real driver: what is given is compiled, kept by the overlay, and loaded from there.
#include "api/library_scene.hpp"
#include "driver_main.hpp"
#include "system/temporary_directory.hpp"

#include <clbake/overlay.hpp>
#include <clbake/program_text.hpp>

#include <boost/test/data/test_case.hpp>
#include <fstream>

using namespace clbake;
using namespace clbake::tests;
namespace data = boost::unit_test::data;

namespace {

constexpr const char* kTwice = "kernel void twice(global float* x) { x[get_global_id(0)] *= FACTOR; }\n";

ProgramText of(std::vector<std::string> sources, std::string options = {}) {
  ProgramText text;
  text.sources = std::move(sources);
  text.options = std::move(options);
  return text;
}

// Ways to give the kernel, some of which need the file factor.h of a folder.
struct Way {
  const char* name;
  ProgramText (*make)(const std::string& folder);
};
std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }

ProgramText with_folder(const std::string& folder) { return of({"#include \"factor.h\"\n", kTwice}, "-I " + folder); }

const Way ways[] = {
    {"options", [](const std::string&) { return of({kTwice}, "-D FACTOR=2"); }},
    {"several strings",
     [](const std::string&) {
       return of({"#define FACTOR 2\n", kTwice});
     }},
    {"a folder", with_folder},
    {"a macro in #include",
     [](const std::string& folder) {
       return of({"#include TEXT_OF(FOLDER/factor.h)\n", kTwice},
                 "-D FOLDER=" + folder + " -D STRING(x)=#x -D TEXT_OF(x)=STRING(x)");
     }},
    {"a header",
     [](const std::string&) {
       ProgramText text = of({"#include \"given.h\"\n", kTwice});
       text.headers = {{"given.h", "#define FACTOR 2\n"}};
       return text;
     }},
    {"parts",
     [](const std::string&) {
       ProgramText text;
       text.parts = {of({"float f(float x); kernel void twice(global float* x) { x[get_global_id(0)] = "
                         "f(x[get_global_id(0)]); }"}),
                     of({"float f(float x); float f(float x) { return FACTOR * x; }"}, "-D FACTOR=2")};
       return text;
     }},
};

// The kernel doubles 64 numbers.
bool doubles(cl_program program) {
  std::vector<float> numbers(64, 1.5F);
  cl_int error = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(here().session.context(), here().device.id, 0, &error);
  cl_mem buffer =
      clCreateBuffer(here().session.context(), CL_MEM_COPY_HOST_PTR, 64 * sizeof(float), numbers.data(), &error);
  cl_kernel kernel = clCreateKernel(program, "twice", &error);
  bool right = error == CL_SUCCESS && clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS;
  const std::size_t global = 64, local = 16;
  right =
      right && clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr) == CL_SUCCESS;
  right = right && clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 64 * sizeof(float), numbers.data(), 0, nullptr,
                                       nullptr) == CL_SUCCESS;
  if (kernel) clReleaseKernel(kernel);
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  return right && numbers == std::vector<float>(64, 3.0F);
}

struct Folder : TemporaryDirectory {
  Folder() { std::ofstream(file("factor.h")) << "#define FACTOR 2\n"; }

  Library library() const {
    OverlayOptions where;
    where.directory = file("overlay");
    where.mode = OverlayMode::read_write;
    Options options;
    options.overlay = required(open_overlay(where));
    return required(Library::create(here().session.context(), here().device.id, {}, options));
  }
};

}  // namespace

BOOST_DATA_TEST_CASE(GivenProgramIsCompiled, data::make(ways), way) {
  const Folder folder;
  const Library library = required(Library::create(here().session.context(), here().device.id, {}));
  const LoadedProgram program = required(library.program(way.make(folder.path)));
  BOOST_TEST(name(program.explanation().origin) == "source");
  BOOST_TEST(doubles(program.get()));
}

BOOST_DATA_TEST_CASE(OverlayServesItNextTime, data::make(ways), way) {
  const Folder folder;
  {
    const Library first = folder.library();
    required(first.program(way.make(folder.path)));
    first.finish();
  }
  const LoadedProgram program = required(folder.library().program(way.make(folder.path)));
  BOOST_TEST(name(program.explanation().origin) == "overlay");
  BOOST_TEST(doubles(program.get()));
}

BOOST_AUTO_TEST_CASE(StoredTextCompilesWithoutItsFolder) {
  const Folder folder;
  {
    const Library first = folder.library();
    required(first.program(with_folder(folder.path)));
    first.finish();
  }
  std::filesystem::remove(folder.file("factor.h"));
  int stored_files = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder.file("overlay"))) {
    ++stored_files;
    const Bundle stored = required(Bundle::open(file.path().string()));
    cache::Contents contents = required(stored.decode());
    contents.entries.clear();
    const cache::Bytes bytes = encoded(contents);
    enable_encoded_programs();
    const Library library = required(Library::create(here().session.context(), here().device.id,
                                                     {required(Bundle::copy_of({bytes.data(), bytes.size()}))}));
    BOOST_TEST(doubles(required(library.program(contents.variants[0].name)).get()));
  }
  BOOST_TEST(stored_files == 1);
}
