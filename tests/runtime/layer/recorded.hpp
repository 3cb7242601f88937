// A program under the layer in record mode, above the fake driver.
#pragma once

#include "layer/layer_scene.hpp"

#include <clbake/os/work_directories.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbake::test {

namespace fs = std::filesystem;
using Floats = std::vector<float>;

inline std::string text_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The layer keeps its journal open, which on Windows keeps the directory.
struct RecordingDirectory {
  RecordingDirectory() : path(*os::make_temporary_directory({})) {}
  RecordingDirectory(const RecordingDirectory&) = delete;
  RecordingDirectory& operator=(const RecordingDirectory&) = delete;
  ~RecordingDirectory() { os::remove_directory(path); }
  std::string path;
};

// A program that doubles a buffer of two numbers, in place, with the work-group size as it likes.
class Recorded {
 public:
  explicit Recorded(const std::string& into = "recording")
      : folder_(directory_.path + "/" + into), scene({{"CLBAKE_RECORD", folder_}}) {}

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

  RecordingDirectory directory_;
  std::string folder_;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem buffer_ = nullptr;

 public:
  LayerScene scene;
};

}  // namespace clbake::test
