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

#include <random>

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
      for (std::size_t d = 0; d < kDimensions; ++d) squares[i] += p[d] * p[d];
    }
  }
};

// `distances`: of all points from each query, less |q|^2.
bool right(const std::vector<float>& distances) {
  for (std::size_t q = 0; q < kQueries; ++q) {
    const auto row = distances.begin() + static_cast<std::ptrdiff_t>(q * kPoints);
    if (std::min_element(row, row + kPoints) - row != static_cast<std::ptrdiff_t>(Data::planted(q))) return false;
  }
  return true;
}

int search(cl_context context, cl_device_id device, cl_command_queue queue, double context_ms) {
  const Data data;
  cl_mem queries = buffer_of(context, data.queries), points = buffer_of(context, data.points),
         distances = buffer_of(context, data.squares);
  if (!queries || !points || !distances || clFinish(queue) != CL_SUCCESS) return fail("no memory on the device");
  std::vector<float> host(data.squares.size());
  const auto compute = [&] {
    const std::string error = enqueue(queue, {kQueries, kPoints, kDimensions, -2.0F, queries, points, distances});
    return error.empty() ? read(queue, distances, host) : error;
  };
  const auto check = [&]() -> std::string {  // and back to the start
    clEnqueueWriteBuffer(queue, distances, CL_TRUE, 0, host.size() * sizeof(float), data.squares.data(), 0, nullptr,
                         nullptr);
    return right(host) ? "" : "wrong answers";
  };
  const int status = time_results(
      library_name, context_ms, [&] { return start_library(context, device); }, compute, check);
  end_library();
  for (cl_mem memory : {queries, points, distances}) clReleaseMemObject(memory);
  return status;
}

}  // namespace

int main(int argc, char** argv) { return run_on_device(argc, argv, search); }
