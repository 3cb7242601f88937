// The public handle: arguments that do not reach the plan, and exceptions that do not leave the library.
#include <clbake/exceptions_to_status.hpp>

#include "launch/prepared_gemm.hpp"

#include <utility>

namespace clbake {
namespace {

Status moved_from() { return {Argument::gemm, "the Gemm was moved from"}; }

}  // namespace

Gemm::Gemm(std::unique_ptr<PreparedGemm> prepared) : prepared_(std::move(prepared)) {}
Gemm::Gemm(Gemm&&) noexcept = default;
Gemm& Gemm::operator=(Gemm&&) noexcept = default;
Gemm::~Gemm() = default;

const Explanation& Gemm::explanation() const {
  static const Explanation none;
  return prepared_ ? prepared_->explanation() : none;
}

cl_program Gemm::program() const { return prepared_ ? prepared_->program().program() : nullptr; }

std::size_t Gemm::workspace_bytes() const { return prepared_ ? prepared_->plan().workspace_bytes() : 0; }

Result<Gemm> Gemm::clone() const {
  if (!prepared_) return moved_from();
  return exceptions_to_status([&]() -> Result<Gemm> {
    Result<std::unique_ptr<PreparedGemm>> copy = prepared_->clone();
    if (!copy) return copy.status();
    return Gemm(std::move(*copy));
  });
}

Status Gemm::use_workspace(cl_mem buffer, std::size_t offset) {
  if (!prepared_) return moved_from();
  return exceptions_to_status([&] { return prepared_->use_workspace(buffer, offset); });
}

Status Gemm::enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta,
                     Matrix c, cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  return enqueue(queue, alpha, a, b, beta, c, EpilogueBuffers(), wait_count, wait_list, event);
}

Status Gemm::enqueue(cl_command_queue queue, std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta,
                     Matrix c, const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list,
                     cl_event* event) {
  if (!prepared_) return moved_from();
  const Scalars scalars{alpha, beta};
  return exceptions_to_status([&] {
    return prepared_->enqueue(queue, ScalarList(scalars), a, b, c, more, {wait_count, wait_list, event});
  });
}

Status Gemm::enqueue(cl_command_queue queue, const std::vector<Scalars>& each, Matrix a, Matrix b, Matrix c,
                     const EpilogueBuffers& more, cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
  if (!prepared_) return moved_from();
  return exceptions_to_status([&] {
    return prepared_->enqueue(queue, ScalarList(each), a, b, c, more, {wait_count, wait_list, event});
  });
}

Status Gemm::record(_cl_command_buffer_khr* commands, std::complex<double> alpha, Matrix a, Matrix b,
                    std::complex<double> beta, Matrix c, const EpilogueBuffers& more, const std::vector<cl_uint>& wait,
                    cl_uint* point, RecordedGemm* recorded) {
  if (!prepared_) return moved_from();
  const Scalars scalars{alpha, beta};
  return exceptions_to_status([&] {
    return prepared_->record(commands, ScalarList(scalars), a, b, c, more, wait, point,
                             recorded ? &recorded->commands_ : nullptr);
  });
}

Status RecordedGemm::update(std::complex<double> alpha, Matrix a, Matrix b, std::complex<double> beta, Matrix c,
                            const EpilogueBuffers& more) {
  if (!commands_) return {Argument::gemm, "the RecordedGemm is none that Gemm::record filled in"};
  const Scalars scalars{alpha, beta};
  return exceptions_to_status([&] { return commands_->gemm->update(*commands_, ScalarList(scalars), a, b, c, more); });
}

}  // namespace clbake
