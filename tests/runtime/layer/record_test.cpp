// The layer in record mode above the fake driver: orders that real drivers hardly show, and calls that fail.
#include "layer/layer_scene.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace clbake;
using namespace clbake::test;

namespace {

namespace fs = std::filesystem;
using Floats = std::vector<float>;

std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The number of this process's file with that ending; -1: none is open.
int descriptor_of(const std::string& ending) {
  for (int number = 3; number < 256; ++number) {
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(number);
    if (::readlink(link.c_str(), path, sizeof path - 1) < 0) continue;
    const std::string name = path;
    if (name.size() > ending.size() && name.substr(name.size() - ending.size()) == ending) return number;
  }
  return -1;
}

// A program that doubles a buffer of two numbers, in place, with the work-group size as it likes.
class Recorded {
 public:
  explicit Recorded(const std::string& into = "recording")
      : folder_(directory_.file(into)), scene({{"CLBAKE_RECORD", folder_}}) {}

  // Called by the test, as it checks what it does.
  void start() {
    program_ = scene.build("kernel void mine() {}", "-DITEMS=1");
    kernel_ = scene.kernel(program_, "clbake_complex_c");
    Floats first = {1, 1};
    buffer_ = cl().clCreateBuffer(scene.context, CL_MEM_COPY_HOST_PTR, 8, first.data(), nullptr);
    const cl_float factor[2] = {2, 0};
    set(0, cl_int{1}), set(1, cl_int{1}), set(2, buffer_), set(3, cl_ulong{0}), set(4, cl_int{1}), set(5, cl_ulong{0});
    set(6, cl_mem{nullptr}), set(7, cl_int{0}), set(8, factor);
  }

  ~Recorded() {
    if (!program_) return;
    cl().clReleaseKernel(kernel_);
    cl().clReleaseProgram(program_);
    cl().clReleaseMemObject(buffer_);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  const cl_icd_dispatch& cl() const { return scene.cl(); }

  cl_int launch(cl_command_queue queue, std::size_t local, cl_event wait = nullptr, cl_event* event = nullptr) const {
    const std::size_t size[3] = {local, 1, 1};
    return cl().clEnqueueNDRangeKernel(queue, kernel_, 3, nullptr, size, size, wait ? 1 : 0, wait ? &wait : nullptr,
                                       event);
  }

  // As a program calls it; `waits` and `list` need not fit together.
  cl_int launch(std::size_t global, cl_uint waits, const cl_event* list) const {
    const std::size_t size[3] = {global, 1, 1}, local[3] = {1, 1, 1};
    return cl().clEnqueueNDRangeKernel(scene.queue, kernel_, 3, nullptr, size, local, waits, list, nullptr);
  }

  cl_program program() const { return program_; }
  cl_mem buffer() const { return buffer_; }
  cl_kernel kernel() const { return kernel_; }

  Floats result() const {
    Floats numbers(2);
    cl().clFinish(scene.unordered_queue);
    cl().clEnqueueReadBuffer(scene.queue, buffer_, CL_TRUE, 0, 8, numbers.data(), 0, nullptr, nullptr);
    return numbers;
  }

  std::string journal() const {
    std::string all;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".jsonl") all += text_in(entry.path());
    }
    return all;
  }

  // The recorded content of the buffer for the launch with this local size; empty without a trial.
  std::string content(std::size_t local) const {
    const std::string text = journal();
    const std::size_t at = text.find("\"trial\":{\"global\":[" + std::to_string(local) + ",");
    if (at == std::string::npos) return {};
    const std::size_t begin = text.find("data/", at);
    return file(text.substr(begin, text.find('"', begin) - begin));
  }
  std::string file(const std::string& name) const { return text_in(folder_ + "/" + name); }

  static std::string bytes(const Floats& numbers) { return {reinterpret_cast<const char*>(numbers.data()), 8}; }

 private:
  template <typename T>
  void set(cl_uint index, const T& value) {
    BOOST_REQUIRE_EQUAL(cl().clSetKernelArg(kernel_, index, sizeof value, &value), CL_SUCCESS);
  }

  tests::TemporaryDirectory directory_;
  std::string folder_;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem buffer_ = nullptr;

 public:
  LayerScene scene;
};

}  // namespace

// The driver runs the latest command that may run, so that a launch that did not wait for its reads would come first.
BOOST_AUTO_TEST_CASE(ALaunchWaitsForTheReadsOfItsArgumentsAndTheyForItsEvents) {
  {
    Recorded recorded;
    recorded.start();
    fake::set_lazy(true);
    cl_event first = nullptr;
    BOOST_TEST(recorded.launch(recorded.scene.unordered_queue, 1, nullptr, &first) == CL_SUCCESS);
    BOOST_TEST(recorded.launch(recorded.scene.unordered_queue, 2, first) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({4, 4}));
    BOOST_TEST(recorded.content(1) == Recorded::bytes({1, 1}));
    BOOST_TEST(recorded.content(2) == Recorded::bytes({2, 2}));
    recorded.cl().clReleaseEvent(first);
    fake::set_lazy(false);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ALaunchThatTheDriverRefusesIsNotRecorded) {
  {
    Recorded recorded;
    recorded.start();
    fake::fail(fake::Function::clEnqueueNDRangeKernel, 0, CL_OUT_OF_RESOURCES);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_OUT_OF_RESOURCES);
    fake::fail_nothing();
    BOOST_TEST(count_of(recorded.journal(), "\"size\"") == 0U);
    BOOST_TEST(count_of(recorded.journal(), "\"trial\"") == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(ACallOfTheRecordingThatFailsCostsTheTrialAlone) {
  using F = fake::Function;
  for (const F function : {F::clEnqueueReadBuffer, F::clSetEventCallback, F::clGetKernelInfo}) {
    BOOST_TEST_CONTEXT(fake::name(function)) {
      {
        Recorded recorded;
        recorded.start();
        fake::fail(function, fake::kEvery, CL_OUT_OF_RESOURCES);
        BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
        fake::fail_nothing();
        BOOST_TEST(recorded.result() == Floats({2, 2}));
        const std::string journal = recorded.journal();
        BOOST_TEST(count_of(journal, "\"size\"") == 1U, journal);
        BOOST_TEST(count_of(journal, "\"untried\"") == 1U, journal);
        BOOST_TEST(count_of(journal, "\"trial\"") == 0U, journal);
      }
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(AnEventThatFailsFailsTheLaunchAsWithoutTheLayer) {
  {
    Recorded recorded;
    recorded.start();
    cl_event wait = recorded.cl().clCreateUserEvent(recorded.scene.context, nullptr), event = nullptr;
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1, wait, &event) == CL_SUCCESS);
    recorded.cl().clSetUserEventStatus(wait, -1);
    BOOST_TEST(recorded.result() == Floats({1, 1}));
    cl_int status = 0;
    recorded.cl().clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    BOOST_TEST(status < 0);
    BOOST_TEST(count_of(recorded.journal(), "\"trial\"") == 0U);
    recorded.cl().clReleaseEvent(event);
    recorded.cl().clReleaseEvent(wait);
  }
  check_nothing_is_left();
}

// A driver may wait in a read for an event that the program ends only after its launch.
BOOST_AUTO_TEST_CASE(NothingIsReadWhileTheProgramHoldsCommandsBack) {
  {
    Recorded recorded;
    recorded.start();
    cl_event gate = recorded.cl().clCreateUserEvent(recorded.scene.context, nullptr);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1, gate) == CL_SUCCESS);
    BOOST_TEST(fake::calls(fake::Function::clEnqueueReadBuffer) == 0U);
    BOOST_TEST(count_of(recorded.journal(), "\"untried\":\"a user event holds commands back") == 1U);
    recorded.cl().clSetUserEventStatus(gate, CL_COMPLETE);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 2) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({4, 4}));
    BOOST_TEST(recorded.content(2) == Recorded::bytes({2, 2}));
    recorded.cl().clReleaseEvent(gate);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AWaitListThatDoesNotFitItsNumberIsTheDriversToRefuse) {
  {
    Recorded recorded;
    recorded.start();
    const cl_event none = nullptr;
    BOOST_TEST(recorded.launch(1, 1, nullptr) == CL_INVALID_EVENT_WAIT_LIST);
    BOOST_TEST(recorded.launch(1, 0, &none) == CL_INVALID_EVENT_WAIT_LIST);
    BOOST_TEST(count_of(recorded.journal(), "\"size\"") == 0U);
  }
  check_nothing_is_left();
}

// With live kernels a driver does not begin: the program stays as it was.
BOOST_AUTO_TEST_CASE(ABuildThatTheDriverDoesNotBeginLeavesTheProgramRecorded) {
  {
    Recorded recorded;
    recorded.start();
    const cl_icd_dispatch& cl = recorded.cl();
    BOOST_TEST(cl.clBuildProgram(recorded.program(), 0, nullptr, "-DOTHER", nullptr, nullptr) == CL_INVALID_OPERATION);
    cl_kernel further = recorded.scene.kernel(recorded.program(), "clbake_complex_a");
    BOOST_TEST(has(recorded.journal(), "clbake_complex_a"), recorded.journal());
    BOOST_TEST(!has(recorded.journal(), "-DOTHER"), recorded.journal());
    BOOST_TEST(!has(recorded.journal(), "did not build"), recorded.journal());
    cl.clReleaseKernel(further);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(AFunctionThatTheLoaderLacksIsNotThereWhileRecording) {
  const Recorded recorded;
  BOOST_TEST(recorded.cl().clSetKernelArgSVMPointer == nullptr);
  BOOST_TEST(recorded.cl().clSetKernelArg != nullptr);
}

// The program closes all descriptors but its own three, and opens a file of its own at the journal's number.
BOOST_AUTO_TEST_CASE(AProgramThatTakesTheJournalsDescriptorKeepsItsFileAndTheRecordingGoesOn) {
  {
    Recorded recorded;
    recorded.start();
    tests::TemporaryDirectory directory;
    const std::string own = directory.file("own");
    const int number = descriptor_of(".jsonl");
    BOOST_REQUIRE(number >= 0);
    const int file = ::open(own.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    BOOST_REQUIRE(::dup2(file, number) == number);
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({2, 2}));
    BOOST_TEST(text_in(own) == "");
    BOOST_TEST(count_of(recorded.journal(), "clbake_recording") == 2U);
    BOOST_TEST(recorded.content(1) == Recorded::bytes({1, 1}));
    ::close(number);
    ::close(file);
  }
  check_nothing_is_left();
}

// By OpenCL's function, and by the extension's, which a program asks for by name.
BOOST_AUTO_TEST_CASE(SpirVIsRecordedToTheByte) {
  const std::string il("\x03\x02#\0 -DITEMS=1", 14);
  for (const bool extension : {false, true}) {
    BOOST_TEST_CONTEXT((extension ? "clCreateProgramWithILKHR" : "clCreateProgramWithIL")) {
      {
        Recorded recorded;
        const cl_icd_dispatch& cl = recorded.cl();
        auto create = cl.clCreateProgramWithIL;
        if (extension) {
          cl_platform_id platform = nullptr;
          clGetPlatformIDs(1, &platform, nullptr);
          create = reinterpret_cast<decltype(create)>(
              cl.clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR"));
        }
        cl_program program = create(recorded.scene.context, il.data(), il.size(), nullptr);
        BOOST_REQUIRE(program);
        BOOST_TEST(cl.clBuildProgram(program, 0, nullptr, "-DITEMS=1", nullptr, nullptr) == CL_SUCCESS);
        const std::string journal = recorded.journal();
        const std::size_t begin = journal.find("sources/");
        BOOST_REQUIRE(begin != std::string::npos);
        BOOST_TEST(recorded.file(journal.substr(begin, journal.find('"', begin) - begin)) == il);
        cl.clReleaseProgram(program);
      }
      check_nothing_is_left();
    }
  }
}

BOOST_AUTO_TEST_CASE(ADirectoryThatCannotBeWrittenIsSaidOnceAndTheProgramRuns) {
  {
    Recorded recorded("missing/recording");
    recorded.start();
    BOOST_TEST(recorded.launch(recorded.scene.queue, 1) == CL_SUCCESS);
    BOOST_TEST(recorded.result() == Floats({2, 2}));
    BOOST_TEST(recorded.scene.log_lines() == 1U, recorded.scene.log());
    BOOST_TEST(has(recorded.scene.log(), "recording ends"), recorded.scene.log());
  }
  check_nothing_is_left();
}
