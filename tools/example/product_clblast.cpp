// CLBlast, which compiles its kernels when they are first used.
#include "product.hpp"

#include <clblast_c.h>

namespace {

class WithClblast : public Multiplier {
 public:
  explicit WithClblast(cl_command_queue queue) : queue_(queue) {}

  std::string enqueue(const Product& p) override {
    const CLBlastStatusCode status =
        CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, p.m, p.n, p.k, p.alpha, p.a, 0,
                     p.k, p.b, 0, p.k, 1.0F, p.c, 0, p.n, &queue_, nullptr);
    return status == CLBlastSuccess ? "" : "CLBlast's error " + std::to_string(status);
  }

 private:
  cl_command_queue queue_;
};

}  // namespace

const char* const multiplier_name = "CLBlast";

std::unique_ptr<Multiplier> make_multiplier(cl_context, cl_device_id, cl_command_queue queue, std::string&) {
  return std::make_unique<WithClblast>(queue);
}
