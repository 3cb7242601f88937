#include "record/trial/trial_arguments.hpp"

#include "down.hpp"
#include "record/handles.hpp"
#include "record/write/json_text.hpp"

#include <clbake/image_names.hpp>

#include <cstring>

namespace clbake::layer::record {
namespace {

// A driver's word about an argument of a kernel. Some keep nothing unless the program was built to have it.
struct Declared {
  bool is_known = false;
  bool is_memory = false;
  bool is_local = false;
  std::string type;
};

Declared declared(cl_kernel kernel, cl_uint index) {
  Declared result;
  cl_kernel_arg_address_qualifier address = 0;
  char type[256] = {};
  const auto ask = [&](cl_kernel_arg_info what, std::size_t size, void* value) {
    return down().clGetKernelArgInfo(kernel, index, what, size, value, nullptr) == CL_SUCCESS;
  };
  result.is_known = ask(CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address, &address) &&
                    ask(CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type);
  if (!result.is_known) return result;
  result.type = type;
  result.is_local = address == CL_KERNEL_ARG_ADDRESS_LOCAL;
  const bool is_image = result.type.rfind("image", 0) == 0;
  result.is_memory = address == CL_KERNEL_ARG_ADDRESS_GLOBAL || address == CL_KERNEL_ARG_ADDRESS_CONSTANT || is_image;
  return result;
}

template <typename Handle>
Handle handle_in(const Argument& argument) {
  Handle handle = nullptr;
  if (argument.bytes.size() == sizeof handle) std::memcpy(&handle, argument.bytes.data(), sizeof handle);
  return handle;
}

template <typename T>
T sampler_info(cl_sampler sampler, cl_sampler_info what) {
  T value = {};
  const bool known = down().clGetSamplerInfo(sampler, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  return known ? value : T();
}

std::string sampler_text(cl_sampler sampler) {
  const char* addressing = image_names::name_of(image_names::kAddressings,
                                                sampler_info<cl_addressing_mode>(sampler, CL_SAMPLER_ADDRESSING_MODE));
  const char* filter =
      image_names::name_of(image_names::kFilters, sampler_info<cl_filter_mode>(sampler, CL_SAMPLER_FILTER_MODE));
  if (!addressing || !filter) return {};
  const bool normalized = sampler_info<cl_bool>(sampler, CL_SAMPLER_NORMALIZED_COORDS) != CL_FALSE;
  return Object()
      .add("sampler", Object()
                          .add("normalized", normalized ? "true" : "false")
                          .add("addressing", quoted(addressing))
                          .add("filter", quoted(filter))
                          .text())
      .text();
}

constexpr const char* kNullBuffer = R"({"buffer":null})";

// One argument. Returns why it cannot be tried.
std::string state_argument(const Declared& declared, const Argument& argument, TrialArgument& result) {
  const bool is_pointer = declared.is_known && declared.is_memory;
  if (argument.kind == Argument::Kind::unset) return "is set by a function that clbake does not know";
  if (argument.kind == Argument::Kind::shared) return "is a pointer of shared virtual memory";
  if (argument.kind == Argument::Kind::local) {
    // Without the driver's word it is local memory: the call is the same.
    result.fields = is_pointer ? kNullBuffer : Object().add("local", std::to_string(argument.size)).text();
    return {};
  }
  if (declared.type == "queue_t" || declared.type == "clk_event_t") return "is a queue or an event of the device";
  const auto memory = handle_in<cl_mem>(argument);
  const auto sampler = handle_in<cl_sampler>(argument);
  if (sampler && (declared.type == "sampler_t" || (!declared.is_known && is_sampler(sampler)))) {
    result.fields = sampler_text(sampler);
    return result.fields.empty() ? "is a sampler of a kind that trials do not have" : "";
  }
  if (memory && (is_pointer || (!declared.is_known && is_memory(memory)))) {
    return describe(memory, declared.type, result.memory.emplace());
  }
  result.fields =
      is_pointer ? kNullBuffer : Object().add("bytes", quoted(hex(argument.bytes.data(), argument.size))).text();
  return {};
}

// Makes the later ones of arguments that are one memory object a reference to the first.
void join_same(std::vector<TrialArgument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (std::size_t k = 0; arguments[i].memory && k < i; ++k) {
      if (!arguments[k].memory || arguments[k].memory->handle != arguments[i].memory->handle) continue;
      arguments[i].memory.reset();
      arguments[i].fields = Object().add("same", std::to_string(k)).text();
    }
  }
}

}  // namespace

std::string arguments_of(cl_kernel kernel, const KernelState& state, std::vector<TrialArgument>& arguments) {
  cl_uint count = 0;
  if (down().clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr) != CL_SUCCESS) {
    return "its arguments are not known";
  }
  if (state.has_indirect) return "it reaches shared virtual memory by pointers that are no arguments";
  arguments.resize(count);
  for (cl_uint i = 0; i < count; ++i) {
    const Argument argument = i < state.arguments.size() ? state.arguments[i] : Argument();
    const std::string wrong = state_argument(declared(kernel, i), argument, arguments[i]);
    if (!wrong.empty()) return "argument " + std::to_string(i) + " " + wrong;
  }
  join_same(arguments);
  return {};
}

}  // namespace clbake::layer::record
