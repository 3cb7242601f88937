// clbake, with the bundle inside of the program (clbake_add_bundle in CMakeLists.txt).
#include "product.hpp"

#include <gemm_clbake.h>
#include <clbake/clbake.hpp>

#include <cstdlib>
#include <utility>

namespace {

// A file for the problems that were multiplied, from which `clbake capture` makes a shapes file; null: none.
const char* const recording = std::getenv("NEAREST_RECORDING");

class WithClbake : public Multiplier {
 public:
  WithClbake(clbake::Library library, cl_command_queue queue) : library_(std::move(library)), queue_(queue) {}
  ~WithClbake() override {
    if (recording) static_cast<void>(library_.write_recording(recording));
  }

  std::string enqueue(const Product& product) override {
    clbake::Problem problem;
    problem.trans_b = true;
    problem.m = product.m;
    problem.n = product.n;
    problem.k = product.k;
    problem.lda = problem.ldb = product.k;
    problem.ldc = product.n;
    const clbake::Status status =
        library_.gemm(queue_, problem, product.alpha, {product.a}, {product.b}, 1.0, {product.c});
    return status ? "" : status.message();
  }

 private:
  clbake::Library library_;
  cl_command_queue queue_;
};

}  // namespace

const char* const multiplier_name = "clbake";

std::unique_ptr<Multiplier> make_multiplier(cl_context context, cl_device_id device, cl_command_queue queue,
                                            std::string& error) {
  const clbake::Result<clbake::Bundle> bundle = clbake::Bundle::from_memory({gemm_clbake, gemm_clbake_size});
  if (!bundle) {
    error = bundle.status().message();
    return nullptr;
  }
  clbake::Options options;
  options.record = recording != nullptr;
  clbake::Result<clbake::Library> library = clbake::Library::create(context, device, {*bundle}, options);
  if (!library) {
    error = library.status().message();
    return nullptr;
  }
  return std::make_unique<WithClbake>(std::move(*library), queue);
}
