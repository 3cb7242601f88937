#include "record/trial/trial_arguments.hpp"

#include "down.hpp"
#include "record/handles.hpp"
#include "record/write/json_text.hpp"

#include <clbake/image_names.hpp>

#include <algorithm>
#include <cstring>

namespace clbake::layer::record {
using namespace image_names;
namespace {

constexpr std::size_t kMostObjectBytes = std::size_t{256} << 20;  // so that machines can try several of them
constexpr std::size_t kAlignment = 4096;                          // no device wants more of a sub-buffer's offset

template <typename T>
T memory_info(cl_mem handle, cl_mem_info what) {
  T value = {};
  const bool known = down().clGetMemObjectInfo(handle, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  return known ? value : T();
}

template <typename T>
T image_info(cl_mem handle, cl_image_info what) {
  T value = {};
  const bool known = down().clGetImageInfo(handle, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  return known ? value : T();
}

// Bytes of "float4" and the like; 0 for other types.
std::size_t number_bytes(const std::string& type) {
  constexpr struct {
    const char* name;
    std::size_t bytes;
  } kTypes[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},  {"int", 4},
                {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
  const std::size_t digits = std::min(type.find_first_of("0123456789"), type.size());
  const std::string width = type.substr(digits);
  const std::string widths = " 2 3 4 8 16 ";
  if (!width.empty() && widths.find(" " + width + " ") == std::string::npos) return 0;
  const std::size_t numbers = width.empty() ? 1 : width == "3" ? 4 : std::stoul(width);
  for (const auto& known : kTypes) {
    if (type.compare(0, digits, known.name) == 0) return known.bytes * numbers;
  }
  return 0;
}

// The type that a pointer leads to, if the buffer holds whole ones of it; else "bytes".
std::string element_of(const std::string& type, std::size_t size) {
  const std::string element = type.substr(0, type.find_last_not_of("* ") + 1);
  const std::size_t bytes = number_bytes(element);
  return bytes != 0 && size % bytes == 0 ? element : "bytes";
}

void describe_buffer(const std::string& type, std::size_t size, Memory& memory) {
  const std::string element = element_of(type, size);
  Object fields;
  fields.add("buffer", quoted(element))
      .add("count", std::to_string(size / std::max<std::size_t>(number_bytes(element), 1)));
  // Its place in a larger buffer counts only as far as alignment goes.
  const auto offset = memory_info<std::size_t>(memory.handle, CL_MEM_OFFSET) % kAlignment;
  if (offset != 0) fields.add("offset", std::to_string(offset));
  memory.fields = fields.text();
  memory.region[0] = size;
}

std::string describe_image(cl_mem_object_type type, Memory& memory) {
  const cl_mem handle = memory.handle;
  memory.is_image = true;
  const auto format = image_info<cl_image_format>(handle, CL_IMAGE_FORMAT);
  const auto pixel = image_info<std::size_t>(handle, CL_IMAGE_ELEMENT_SIZE);
  const char* order = name_of(kOrders, format.image_channel_order);
  const char* channel = name_of(kChannels, format.image_channel_data_type);
  const Shape* const shape = row_of(kShapes, type);
  const bool is_plain = image_info<cl_uint>(handle, CL_IMAGE_NUM_MIP_LEVELS) <= 1 &&
                        image_info<cl_uint>(handle, CL_IMAGE_NUM_SAMPLES) <= 1;
  if (!order || !channel || !shape || !pixel || !is_plain) return "is an image of a kind that trials do not have";
  Object fields;
  fields.add("image", quoted(shape->name)).add("order", quoted(order)).add("type", quoted(channel));
  std::size_t(&region)[3] = memory.region;
  std::size_t dimensions = 0;
  const auto add = [&](const char* name, cl_image_info what) {
    region[dimensions] = std::max<std::size_t>(image_info<std::size_t>(handle, what), 1);
    fields.add(name, std::to_string(region[dimensions++]));
  };
  add("width", CL_IMAGE_WIDTH);
  if (shape->dimensions >= 2) add("height", CL_IMAGE_HEIGHT);
  if (shape->dimensions >= 3) add("depth", CL_IMAGE_DEPTH);
  if (shape->is_array) add("array_size", CL_IMAGE_ARRAY_SIZE);
  memory.fields = fields.text();
  memory.element_bytes = pixel;
  return memory.bytes() > kMostObjectBytes ? "is an image of more than 256 MiB" : "";
}

constexpr std::size_t kOrigin[3] = {0, 0, 0};

cl_int read(cl_command_queue queue, const Memory& memory, cl_uint waits, const cl_event* wait_list, void* to,
            cl_event* event) {
  return memory.is_image ? down().clEnqueueReadImage(queue, memory.handle, CL_FALSE, kOrigin, memory.region, 0, 0, to,
                                                     waits, wait_list, event)
                         : down().clEnqueueReadBuffer(queue, memory.handle, CL_FALSE, 0, memory.bytes(), to, waits,
                                                      wait_list, event);
}

// The same for an object that the host may not read (CL_MEM_HOST_NO_ACCESS): commands may copy it.
cl_int read_copy(cl_command_queue queue, const Memory& memory, cl_uint waits, const cl_event* wait_list, void* to,
                 cl_event* event) {
  cl_int error = CL_SUCCESS;
  cl_mem copy = down().clCreateBuffer(memory_info<cl_context>(memory.handle, CL_MEM_CONTEXT), CL_MEM_READ_WRITE,
                                      memory.bytes(), nullptr, &error);
  if (!copy) return error;
  cl_event copied = nullptr;
  error = memory.is_image
              ? down().clEnqueueCopyImageToBuffer(queue, memory.handle, copy, kOrigin, memory.region, 0, waits,
                                                  wait_list, &copied)
              : down().clEnqueueCopyBuffer(queue, memory.handle, copy, 0, 0, memory.bytes(), waits, wait_list, &copied);
  if (error == CL_SUCCESS) {
    error = down().clEnqueueReadBuffer(queue, copy, CL_FALSE, 0, memory.bytes(), to, 1, &copied, event);
    down().clReleaseEvent(copied);
  }
  down().clReleaseMemObject(copy);  // the commands keep it
  return error;
}

// `type`: of the kernel's argument, such as "float4*"; may be empty. Returns why it cannot be stated; empty when it
// can.
std::string describe(cl_mem handle, const std::string& type, Memory& memory) {
  memory.handle = handle;
  memory.has_content = (memory_info<cl_mem_flags>(handle, CL_MEM_FLAGS) & CL_MEM_WRITE_ONLY) == 0;
  const auto kind = memory_info<cl_mem_object_type>(handle, CL_MEM_TYPE);
  if (kind == 0) return "is no memory object";
  if (kind == CL_MEM_OBJECT_PIPE) return "is a pipe";
  if (kind != CL_MEM_OBJECT_BUFFER) return describe_image(kind, memory);
  const auto size = memory_info<std::size_t>(handle, CL_MEM_SIZE);
  if (size > kMostObjectBytes) return "is a buffer of more than 256 MiB";
  describe_buffer(type, size, memory);
  return {};
}

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

cl_int enqueue_read(cl_command_queue queue, const Memory& memory, cl_uint waits, const cl_event* wait_list, void* to,
                    cl_event* event) {
  const cl_int error = read(queue, memory, waits, wait_list, to, event);
  return error == CL_INVALID_OPERATION ? read_copy(queue, memory, waits, wait_list, to, event) : error;
}

}  // namespace clbake::layer::record
