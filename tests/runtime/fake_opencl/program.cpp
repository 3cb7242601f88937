// Programs: from source, from binary, and what became of them.
#include "fake_opencl/objects.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

using namespace fake;

namespace {

constexpr const char* kMagic = "fake binary\n";
std::atomic<unsigned> build_milliseconds{0};

// FNV-1a.
std::string checksum(const std::string& text) {
  std::uint64_t sum = 14695981039346656037U;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return std::to_string(sum);
}

std::string head(const Device& device, const std::string& options) {
  return std::string(kMagic) + device.name + "\n" + options + "\n";
}

std::string binary_of(const Device& device, const std::string& options) {
  const std::string text = head(device, options);
  return text + checksum(text);
}

// The build options that the binary was made with; false when it was not made for this device, or changed since.
bool read_binary(const Device& device, const std::string& binary, std::string& options) {
  const std::size_t begin = head(device, "").size() - 1;
  const std::size_t end = binary.find('\n', begin);
  if (end == std::string::npos) return false;
  options = binary.substr(begin, end - begin);
  return binary == binary_of(device, options);
}

// NVIDIA's driver's output for a source with instructions that the plain architecture does not have: its PTX, which
// becomes a binary when the architecture gets its suffix.
std::string refused_ptx(const Device& device, const std::string& options) {
  std::string text = binary_of(device, options + " .target sm_90a, wgmma.");
  return text.erase(text.find("sm_90a") + 5, 1);
}

std::atomic<std::size_t> compiled{0};
std::atomic<bool> reports_in_threads{false};
std::mutex reports_mutex;
std::vector<std::thread>& reports() {
  static std::vector<std::thread> threads;
  return threads;
}

}  // namespace

namespace fake {

bool in_context(const Context& context, cl_device_id device) {
  for (const cl_device_id other : context.devices) {
    if (other == device) return true;
  }
  return false;
}

void build(Program& program, const Device& device, const char* options) {
  Program::Build& build = program.builds[device.index];
  if (build.from_binary) {
    build.status = CL_BUILD_SUCCESS;
    return;
  }
  ++compiled;
  std::this_thread::sleep_for(std::chrono::milliseconds(build_milliseconds.load(std::memory_order_relaxed)));
  build.options = options ? options : "";
  const bool fails = program.source.rfind("#error", 0) == 0;
  build.status = fails ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
  build.log = fails ? program.source : "";
  const bool is_ptx = fails && program.source.find("wgmma.") != std::string::npos;
  build.refused = is_ptx ? refused_ptx(device, build.options) : "";
}

void report(void(CL_CALLBACK* notify)(cl_program, void*), cl_program program, void* data) {
  if (!notify) return;
  if (!reports_in_threads) return notify(program, data);
  const std::lock_guard<std::mutex> lock(reports_mutex);
  retain(object<Program>(program));
  reports().emplace_back([=] {
    notify(program, data);
    drop(object<Program>(program));
  });
}

std::size_t compilations() { return compiled; }
void forget_compilations() { compiled = 0; }

void finish_reports() {
  std::vector<std::thread> waiting;
  {
    const std::lock_guard<std::mutex> lock(reports_mutex);
    waiting.swap(reports());
  }
  for (std::thread& thread : waiting) thread.join();
}

void set_reports_in_threads(bool in_threads) { reports_in_threads = in_threads; }

}  // namespace fake

namespace {

cl_int binaries(const Program& program, cl_program_info what, const Answer& answer) {
  std::vector<std::string> texts;
  std::vector<std::size_t> sizes;
  for (const cl_device_id id : program.context->devices) {
    const Device& device = *object<Device>(id);
    const Program::Build& build = program.builds[device.index];
    texts.push_back(build.status == CL_BUILD_SUCCESS ? binary_of(device, build.options) : build.refused);
    sizes.push_back(texts.back().size());
  }
  if (what == CL_PROGRAM_BINARY_SIZES) return answer.bytes(sizes.data(), sizes.size() * sizeof sizes[0]);
  if (answer.size_ret) *answer.size_ret = texts.size() * sizeof(unsigned char*);
  if (!answer.value) return CL_SUCCESS;
  if (answer.size < texts.size() * sizeof(unsigned char*)) return CL_INVALID_VALUE;
  auto** targets = static_cast<unsigned char**>(answer.value);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (targets[i]) std::memcpy(targets[i], texts[i].data(), texts[i].size());
  }
  return CL_SUCCESS;
}

}  // namespace

namespace fake {

void set_build_time(unsigned milliseconds) { build_milliseconds = milliseconds; }

std::vector<unsigned char> binary_for(int index, const std::string& build_options) {
  const std::string binary = binary_of(device(index), build_options);
  return {binary.begin(), binary.end()};
}

}  // namespace fake

cl_program clCreateProgramWithSource(cl_context id, cl_uint count, const char** strings, const size_t* lengths,
                                     cl_int* error) {
  const Call call(Function::clCreateProgramWithSource);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && (count == 0 || !strings)) result = CL_INVALID_VALUE;
  return create(error, result, [&] {
    auto* program = new Program(context);
    for (cl_uint i = 0; i < count; ++i) {
      const bool sized = lengths && lengths[i] > 0;
      program->source.append(strings[i], sized ? lengths[i] : std::strlen(strings[i]));
    }
    show(program->source);
    return program;
  });
}

cl_program clCreateProgramWithBinary(cl_context id, cl_uint count, const cl_device_id* devices, const size_t* sizes,
                                     const unsigned char** bytes, cl_int* statuses, cl_int* error) {
  const Call call(Function::clCreateProgramWithBinary);
  auto* context = object<Context>(id);
  cl_int result = call.refusal(context);
  if (result == CL_SUCCESS && (count == 0 || !devices || !sizes || !bytes)) result = CL_INVALID_VALUE;
  std::string options[kDevices];
  for (cl_uint i = 0; result == CL_SUCCESS && i < count; ++i) {
    if (!in_context(*context, devices[i])) return create(error, CL_INVALID_DEVICE, [] { return new Program(nullptr); });
    const Device& device = *object<Device>(devices[i]);
    const std::string binary(reinterpret_cast<const char*>(bytes[i]), sizes[i]);
    show(binary);
    const bool good = read_binary(device, binary, options[device.index]);
    if (statuses) statuses[i] = good ? CL_SUCCESS : CL_INVALID_BINARY;
    if (!good) result = CL_INVALID_BINARY;
  }
  return create(error, result, [&] {
    auto* program = new Program(context);
    for (cl_uint i = 0; i < count; ++i) {
      const int index = object<Device>(devices[i])->index;
      program->builds[index].options = options[index];
      program->builds[index].from_binary = true;
    }
    return program;
  });
}

cl_int clBuildProgram(cl_program id, cl_uint count, const cl_device_id* devices, const char* options,
                      void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  const Call call(Function::clBuildProgram);
  if (call.error != CL_SUCCESS || call.lies) return call.error;
  auto* program = object<Program>(id);
  if (!call.valid(program)) return CL_INVALID_PROGRAM;
  if ((count == 0) != (devices == nullptr)) return CL_INVALID_VALUE;
  if (program->kernels > 0) return CL_INVALID_OPERATION;
  const cl_device_id* all = devices ? devices : program->context->devices.data();
  const std::size_t number = devices ? count : program->context->devices.size();
  cl_int result = CL_SUCCESS;
  for (std::size_t i = 0; i < number; ++i) {
    if (!in_context(*program->context, all[i])) return CL_INVALID_DEVICE;
    const Device& device = *object<Device>(all[i]);
    const Program::Build& its = program->builds[device.index];
    if (program->source.empty() && !its.from_binary) return CL_INVALID_OPERATION;
    build(*program, device, options);
    if (its.status != CL_BUILD_SUCCESS) result = CL_BUILD_PROGRAM_FAILURE;
  }
  report(notify, id, data);
  return result;
}

FAKE_OPENCL_REFERENCES(Program, clRetainProgram, clReleaseProgram)

cl_int clGetProgramInfo(cl_program id, cl_program_info what, size_t size, void* value, size_t* size_ret) {
  const Call call(Function::clGetProgramInfo);
  const auto* program = object<Program>(id);
  if (const cl_int refused = call.refusal(program)) return refused;
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return answer.number(static_cast<cl_uint>(program->references));
    case CL_PROGRAM_CONTEXT: return answer.number(handle(program->context));
    case CL_PROGRAM_SOURCE: return answer.text(program->source);
    case CL_PROGRAM_DEVICES: {
      const std::vector<cl_device_id>& devices = program->context->devices;
      return answer.bytes(devices.data(), devices.size() * sizeof(cl_device_id));
    }
    case CL_PROGRAM_NUM_DEVICES: return answer.number(static_cast<cl_uint>(program->context->devices.size()));
    case CL_PROGRAM_BINARY_SIZES:
    case CL_PROGRAM_BINARIES: return binaries(*program, what, answer);
    case CL_PROGRAM_NUM_KERNELS:
    case CL_PROGRAM_KERNEL_NAMES:
      for (const Program::Build& build : program->builds) {
        if (build.status != CL_BUILD_SUCCESS) continue;
        const std::string names = kernel_names(build.options);
        const auto separators = static_cast<std::size_t>(std::count(names.begin(), names.end(), ';'));
        return what == CL_PROGRAM_KERNEL_NAMES ? answer.text(names) : answer.number(separators + 1);
      }
      return CL_INVALID_PROGRAM_EXECUTABLE;
    default: return CL_INVALID_VALUE;
  }
}

cl_int clGetProgramBuildInfo(cl_program id, cl_device_id device, cl_program_build_info what, size_t size, void* value,
                             size_t* size_ret) {
  const Call call(Function::clGetProgramBuildInfo);
  const auto* program = object<Program>(id);
  if (const cl_int refused = call.refusal(program)) return refused;
  if (!in_context(*program->context, device)) return CL_INVALID_DEVICE;
  const Program::Build& build = program->builds[object<Device>(device)->index];
  const Answer answer{size, value, size_ret};
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return answer.number(build.status);
    case CL_PROGRAM_BUILD_LOG: return answer.text(build.log);
    case CL_PROGRAM_BUILD_OPTIONS:
      if (build.from_binary) return answer.text({});
      return answer.text(build.options.empty() ? program->compile_options : build.options);
    case CL_PROGRAM_BINARY_TYPE: {
      const bool built = build.status == CL_BUILD_SUCCESS;
      return answer.number<cl_program_binary_type>(built                  ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                                                   : program->is_compiled ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                                                                          : CL_PROGRAM_BINARY_TYPE_NONE);
    }
    default: return CL_INVALID_VALUE;
  }
}
