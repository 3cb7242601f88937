#include "record/trial/contents.hpp"

#include "down.hpp"
#include "record/write/json_text.hpp"

#include <clbake/image_names.hpp>

#include <algorithm>

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

}  // namespace

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

cl_int enqueue_read(cl_command_queue queue, const Memory& memory, cl_uint waits, const cl_event* wait_list, void* to,
                    cl_event* event) {
  const cl_int error = read(queue, memory, waits, wait_list, to, event);
  return error == CL_INVALID_OPERATION ? read_copy(queue, memory, waits, wait_list, to, event) : error;
}

}  // namespace clbake::layer::record
