#include <clbake/builder/finalize.hpp>
#include <clbake/builder/jobs.hpp>
#include <clbake/builder/trial.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace clbake::builder {
namespace {

// From this many work-items in a dimension on, PoCL counts a grid as large.
constexpr std::size_t kLargeGrid = 65535;

bool begins_with(const cache::Bytes& bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() && std::memcmp(bytes.data(), prefix.data(), prefix.size()) == 0;
}

// SPIR-V's magic word in either byte order, at the start or behind a driver's short header (Mesa's is 28 bytes).
bool holds_spirv(const cache::Bytes& bytes) {
  constexpr std::uint8_t little[] = {0x03, 0x02, 0x23, 0x07};
  constexpr std::uint8_t big[] = {0x07, 0x23, 0x02, 0x03};
  const auto end = bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(bytes.size(), 64));
  return std::search(bytes.begin(), end, std::begin(little), std::end(little)) != end ||
         std::search(bytes.begin(), end, std::begin(big), std::end(big)) != end;
}

bool has(const cache::Variant& variant, cache::Role role) {
  return std::any_of(variant.launches.begin(), variant.launches.end(),
                     [&](const cache::Launch& launch) { return launch.role == role; });
}

Status launch(const Session& session, const Device& device, const Library& library, const cache::Variant& variant,
              const Problem& problem) {
  TrialOptions options;
  options.beta = 1;
  Result<Trial> trial = Trial::create(session, device, problem, options);
  if (!trial) return trial.status();
  Result<Gemm> gemm = library.prepare(problem, variant.name);
  // An image of this size is more than the device allows: nobody will launch this grid.
  const bool images = variant.image_a || variant.image_b;
  if (!gemm && gemm.status().code() == Code::out_of_memory && images) return {};
  if (!gemm) return gemm.status();
  return trial->run(*gemm).status();
}

}  // namespace

Result<Device> device_of(const Target& target) {
  Result<std::vector<Device>> devices = list_devices();
  if (!devices) return devices.status();
  for (Device& device : *devices) {
    if (device.target == target) return device;
  }
  return {Code::no_device, "the job's device is not in this machine: " + target.device_name};
}

const cache::Launch& product_launch(const cache::Variant& variant) {
  return *std::find_if(variant.launches.begin(), variant.launches.end(),
                       [](const cache::Launch& launch) { return launch.role == cache::Role::gemm; });
}

std::vector<Problem> large_grids(const cache::Variant& v) {
  const auto problem = [&](std::size_t m, std::size_t n) {
    return tight_problem(v.precision, m, n, 1, v.trans_a, v.trans_b);
  };
  const cache::Launch& launch = product_launch(v);
  if (v.launches.size() == 1 && launch.local[0] * launch.local[1] == 1) {
    // A batch takes the least memory, but a work-group for each work-item.
    Problem batch = problem(1, 1);
    batch.batch = kLargeGrid;
    batch.a_stride = batch.b_stride = batch.c_stride = 1;
    return {batch};
  }
  const std::size_t rows = (kLargeGrid / launch.local[1] + 1) * std::size_t{launch.tile_m};
  const std::size_t columns = (kLargeGrid / launch.local[0] + 1) * std::size_t{launch.tile_n};
  if (has(v, cache::Role::copy_a) || has(v, cache::Role::copy_b)) return {problem(rows, 1), problem(1, columns)};
  return {rows < columns ? problem(rows, 1) : problem(1, columns)};
}

Status launch_every_shape(const Session& session, const Device& device, const Library& library,
                          const cache::Variant& variant) {
  Status status = launch(session, device, library, variant,
                         tight_problem(variant.precision, 1, 1, 1, variant.trans_a, variant.trans_b));
  for (const Problem& large : large_grids(variant)) {
    if (status) status = launch(session, device, library, variant, large);
  }
  return status;
}

Result<cache::Bytes> program_binary(cl_program program) {
  std::size_t size = 0;
  cl_int error = clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
  if (error != CL_SUCCESS || size == 0) return {Code::driver_rejected, "the driver gives no binary of the program"};
  cache::Bytes bytes(size);
  unsigned char* pointer = bytes.data();
  error = clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr);
  if (error != CL_SUCCESS) return {Code::opencl, "clGetProgramInfo(CL_PROGRAM_BINARIES): " + std::to_string(error)};
  return bytes;
}

cache::Form form_of(const cache::Bytes& program) {
  // NVIDIA's PTX is text: a comment block, then directives.
  const bool ptx = begins_with(program, "//") || begins_with(program, "\n//") || begins_with(program, ".version");
  const bool llvm_bitcode = begins_with(program, "BC\xC0\xDE");
  return ptx || llvm_bitcode || holds_spirv(program) ? cache::Form::portable : cache::Form::native;
}

Status compile_job(const std::string& path, const std::string& output, bool plain) {
  Result<Job> job = read_job(path);
  if (!job) return job.status();
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status();
  const Result<Device> device = device_of(job->target);
  if (!device) return device.status();
  const Result<Session> session = Session::open(*device);
  if (!session) return session.status();
  const Result<Library> library = Library::create(session->context(), device->id, {*bundle});
  if (!library) return library.status();

  const Problem any = tight_problem(job->variant.precision, 1, 1, 1, job->variant.trans_a, job->variant.trans_b);
  const Result<Gemm> gemm = library->prepare(any, job->variant.name);
  if (!gemm) return gemm.status();
  if (!plain) {
    const Status launched = launch_every_shape(*session, *device, *library, job->variant);
    if (!launched) return launched;
  }
  Result<cache::Bytes> binary = program_binary(gemm->program());
  if (!binary) return binary.status();
  cache::Entry entry;
  entry.form = form_of(*binary);
  entry.program = std::move(*binary);
  job->entry = {std::move(entry)};
  return write_job(output, *job);
}

}  // namespace clbake::builder
