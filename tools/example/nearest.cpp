// Nearest neighbours: for each query the nearest of many points, by one product. |q - p|^2 = |q|^2 - 2 q.p + |p|^2, of
// which the first term is the same for all points: C begins as |p|^2 in each row, and C = -2 * Q * transpose(P) + C.
//
//   nearest [DEVICE]     a part of the device's or its platform's name; default: the first device
//
// Prints milliseconds: context and queue; then, with the data on the device, until the library's first answer is on the
// host, the library's own start included; the median of ten later answers. Exit status 1 when an answer is wrong, 77
// without a device.
#include "device.hpp"
#include "product.hpp"

#include <algorithm>
#include <random>
#include <vector>

namespace {

constexpr std::size_t kQueries = 256;
constexpr std::size_t kPoints = 4096;
constexpr std::size_t kDimensions = 96;

// Random points; query i is point planted(i), moved a little.
struct Data {
  std::vector<float> points, queries, squares;  // squares: |p|^2 of all points, once for each query

  static std::size_t planted(std::size_t query) { return query * 769 % kPoints; }

  Data() : points(kPoints * kDimensions), queries(kQueries * kDimensions), squares(kQueries * kPoints) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& x : points) x = normal(random);
    for (std::size_t q = 0; q < kQueries; ++q) {
      for (std::size_t d = 0; d < kDimensions; ++d) {
        queries[q * kDimensions + d] = points[planted(q) * kDimensions + d] + 0.1F * normal(random);
      }
    }
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const float* p = &points[i % kPoints * kDimensions];
      squares[i] = 0;
      for (std::size_t d = 0; d < kDimensions; ++d) squares[i] += p[d] * p[d];
    }
  }
};

class Search {
 public:
  Search(const Data& data, cl_context context, cl_command_queue queue)
      : data_(data),
        queue_(queue),
        queries_(buffer(context, data.queries)),
        points_(buffer(context, data.points)),
        distances_(buffer(context, data.squares)),
        host_(data.squares.size()) {}
  ~Search() {
    for (cl_mem memory : {queries_, points_, distances_}) {
      if (memory) clReleaseMemObject(memory);
    }
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  bool ready() const { return queries_ && points_ && distances_ && clFinish(queue_) == CL_SUCCESS; }

  // The distances, less |q|^2, are on the host afterwards. "", or what went wrong.
  std::string run(Multiplier& multiplier) {
    const std::string error =
        multiplier.enqueue({kQueries, kPoints, kDimensions, -2.0F, queries_, points_, distances_});
    if (!error.empty()) return error;
    const cl_int read = clEnqueueReadBuffer(queue_, distances_, CL_TRUE, 0, host_.size() * sizeof(float), host_.data(),
                                            0, nullptr, nullptr);
    return read == CL_SUCCESS ? "" : "clEnqueueReadBuffer: OpenCL's error " + std::to_string(read);
  }

  void start_over() {
    clEnqueueWriteBuffer(queue_, distances_, CL_TRUE, 0, host_.size() * sizeof(float), data_.squares.data(), 0, nullptr,
                         nullptr);
  }

  std::size_t right_answers() const {
    std::size_t right = 0;
    for (std::size_t q = 0; q < kQueries; ++q) {
      const float* row = &host_[q * kPoints];
      const auto nearest = static_cast<std::size_t>(std::min_element(row, row + kPoints) - row);
      right += nearest == Data::planted(q) ? 1 : 0;
    }
    return right;
  }

 private:
  static cl_mem buffer(cl_context context, const std::vector<float>& values) {
    return clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                          const_cast<float*>(values.data()), nullptr);
  }

  const Data& data_;
  cl_command_queue queue_;
  cl_mem queries_, points_, distances_;
  std::vector<float> host_;
};

int search(const Data& data, cl_context context, cl_device_id device, cl_command_queue queue, double context_ms) {
  Search search(data, context, queue);
  if (!search.ready()) return fail("no memory on the device");
  std::unique_ptr<Multiplier> multiplier;
  const auto later = [&] { return search.run(*multiplier); };
  const auto first = [&] {
    std::string error;
    multiplier = make_multiplier(context, device, queue, error);
    return multiplier ? later() : error;
  };
  const auto check = [&]() -> std::string {
    const bool right = search.right_answers() == kQueries;
    search.start_over();
    return right ? "" : "wrong answers";
  };
  return time_results(multiplier_name, context_ms, first, later, check);
}

}  // namespace

int main(int argc, char** argv) {
  const Data data;
  return run_on_device(argc, argv, [&](cl_context context, cl_device_id device, cl_command_queue queue, double ms) {
    return search(data, context, device, queue, ms);
  });
}
