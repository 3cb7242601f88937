// Contexts that come and go, several queues and devices, threads that start at once.
#include "clblast/door_scene.hpp"

#include "test_device.hpp"

#include <clbake/clblast_door.h>

#include <clbake/os/guest.hpp>
#include <clbake/os/paths.hpp>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace clbake::tests;
using clblast::StatusCode;

namespace {

// A context of its own with a product in it: ones, so that each element of C is k.
class Scene {
 public:
  static constexpr std::size_t kSize = 24;

  Scene() {
    cl_device_id id = device().id;
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context, id, 0, nullptr);
    std::vector<float> ones(kSize * kSize, 1);
    for (cl_mem& matrix : matrices_) {
      matrix = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, ones.size() * sizeof(float), ones.data(), nullptr);
    }
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
  ~Scene() {
    for (cl_mem matrix : matrices_) clReleaseMemObject(matrix);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context);
  }

  // True when the product is right.
  bool multiply() {
    const auto no = clblast::Transpose::kNo;
    const StatusCode status =
        clblast::Gemm<float>(clblast::Layout::kRowMajor, no, no, kSize, kSize, kSize, 1, matrices_[0], 0, kSize,
                             matrices_[1], 0, kSize, 0, matrices_[2], 0, kSize, &queue_);
    std::vector<float> c(kSize * kSize);
    clEnqueueReadBuffer(queue_, matrices_[2], CL_TRUE, 0, c.size() * sizeof(float), c.data(), 0, nullptr, nullptr);
    return status == StatusCode::kSuccess && std::accumulate(c.begin(), c.end(), 0.0F) == kSize * kSize * kSize;
  }

  cl_uint references() const {
    cl_uint count = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, nullptr);
    return count;
  }

  // True when there are so many in the end: PoCL's thread drops what a command held only after clFinish has returned.
  bool comes_to(cl_uint count) const {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (references() != count && std::chrono::steady_clock::now() < latest) std::this_thread::yield();
    return references() == count;
  }

  cl_context context = nullptr;

 private:
  cl_command_queue queue_ = nullptr;
  cl_mem matrices_[3] = {};
};

}  // namespace

BOOST_AUTO_TEST_CASE(ClearCacheReleasesAContext) {
  Scene scene;
  const cl_uint before = scene.references();
  BOOST_TEST(scene.multiply());
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  BOOST_TEST(scene.comes_to(before));
  BOOST_TEST(scene.multiply());
}

#ifndef _WIN32  // no function of another library's name
static bool clear_at_next_query = false;

// In the place of the driver's: what happens while the door makes a library of a context.
extern "C" cl_int clGetContextInfo(cl_context context, cl_context_info name, size_t size, void* value, size_t* needed) {
  static const auto driver =
      reinterpret_cast<decltype(&clGetContextInfo)>(clbake::os::next_function("clGetContextInfo"));
  if (std::exchange(clear_at_next_query, false)) static_cast<void>(clblast::ClearCache());
  return driver(context, name, size, value, needed);
}

// A library that another thread was making when the cache was cleared may be of older bundles.
BOOST_AUTO_TEST_CASE(WhatIsMadeDuringAClearIsNotKept) {
  Scene scene;
  const cl_uint before = scene.references();
  clear_at_next_query = true;
  BOOST_TEST(scene.multiply());
  BOOST_TEST(!clear_at_next_query);
  BOOST_TEST(scene.comes_to(before));
  BOOST_TEST(scene.multiply());
  BOOST_TEST(scene.references() > before);
}

#endif

BOOST_AUTO_TEST_CASE(OnlyTheLatestContextsAreKept) {
  Scene first;
  const cl_uint before = first.references();
  BOOST_TEST(first.multiply());
  for (int i = 0; i < 16; ++i) {
    BOOST_TEST(first.references() > before);
    Scene other;
    BOOST_TEST(other.multiply());
  }
  BOOST_TEST(first.comes_to(before));
}

BOOST_AUTO_TEST_CASE(ThreadsThatStartAtOnceAreAllServed) {
  BOOST_TEST((clblast::ClearCache() == StatusCode::kSuccess));
  Scene scenes[2];
  std::atomic<int> waiting{8};
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Scene own;
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (int turn = 0; turn < 5; ++turn) {
        if (turn == 3 && i == 0) static_cast<void>(clblast::ClearCache());
        if (own.multiply()) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(right == 40);
  BOOST_TEST((scenes[0].multiply() && scenes[1].multiply()));
}

BOOST_AUTO_TEST_CASE(TheBundleCanBeNamedByACall) {
  BOOST_TEST(clbake_clblast_use_bundle("/missing/gemm.clbake") == static_cast<int>(clbake::Code::not_found));
  BOOST_TEST(clbake_clblast_use_bundle(nullptr) == static_cast<int>(clbake::Code::invalid_argument));
  Scene scene;
  BOOST_TEST(scene.multiply());
  const std::string bundles = std::getenv("CLBAKE_CLBLAST_BUNDLE");
  BOOST_TEST(clbake_clblast_use_bundle(bundles.substr(0, bundles.find(clbake::os::kListSeparator)).c_str()) == 0);
  BOOST_TEST(scene.multiply());
}

int main(int argc, char** argv) {
  device();  // skips without one
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
