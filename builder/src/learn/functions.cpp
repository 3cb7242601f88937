#include "learn/functions.hpp"

#include "prove/compile_watch.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace clbake::builder::learn {
namespace {

constexpr const char* kAnyShape = "0-0-0";

std::string size_of(const clbake::learn::SeenLaunch& launch) {
  return std::to_string(launch.local[0]) + "-" + std::to_string(launch.local[1]) + "-" +
         std::to_string(launch.local[2]);
}

// "64-1-1" of "64-1-1-goffs0".
std::string size_in(const std::string& shape) {
  std::size_t end = 0;
  for (int dashes = 0; end < shape.size() && dashes < 3; ++end) dashes += shape[end] == '-' ? 1 : 0;
  return end == shape.size() ? shape : shape.substr(0, end - 1);
}

bool is_for_any_shape(const std::string& function) {
  const std::string any = std::string(" ") + kAnyShape;
  return function.size() > any.size() && function.compare(function.size() - any.size(), any.size(), any) == 0;
}

}  // namespace

Functions functions_of(const std::vector<clbake::learn::SeenLaunch>& launches) {
  Functions functions;
  for (const clbake::learn::SeenLaunch& launch : launches) {
    const std::string size = size_of(launch);
    if (size == kAnyShape) continue;
    functions.insert(launch.kernel + " " + size + (launch.zero_offset ? "-goffs0" : "") +
                     (launch.small_grid ? "-smallgrid" : ""));
  }
  return functions;
}

std::optional<clbake::learn::SeenLaunch> launch_of(const std::string& function) {
  clbake::learn::SeenLaunch launch;
  const std::size_t blank = function.find(' ');
  launch.kernel = function.substr(0, blank);
  const std::string shape = blank == std::string::npos ? std::string() : function.substr(blank + 1);
  std::array<std::uint32_t, 3>& local = launch.local;
  // NOLINTNEXTLINE(cert-err34-c): a number that is too large names no function that a driver has
  if (std::sscanf(shape.c_str(), "%u-%u-%u", &local[0], &local[1], &local[2]) != 3 || local[0] == 0) return {};
  launch.zero_offset = shape.find("-goffs0") != std::string::npos;
  launch.small_grid = shape.find("-smallgrid") != std::string::npos;
  return launch;
}

bool serves_every_launch(const cache::Proof& proof) {
  return std::any_of(proof.specialisations.begin(), proof.specialisations.end(), is_for_any_shape);
}

bool lacks(const Functions& present, const std::set<std::string>& launched, const Functions& wanted) {
  const auto kernel_of = [](const std::string& function) { return function.substr(0, function.find(' ')); };
  std::set<std::string> with_functions;
  for (const std::string& function : present) with_functions.insert(kernel_of(function));
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& function) {
    const std::string kernel = kernel_of(function);
    const bool needs_none = launched.count(kernel) != 0 && with_functions.count(kernel) == 0;
    return !needs_none && present.count(function) == 0;
  });
}

std::vector<std::string> passes_for(const Functions& functions) {
  std::map<std::string, std::set<std::string>> shapes;  // by local size
  for (const std::string& function : functions) {
    const std::string shape = function.substr(function.find(' ') + 1);
    shapes[size_in(shape)].insert(shape);
  }
  std::vector<std::string> passes(1);
  for (const auto& [size, of_size] : shapes) {
    std::size_t pass = 0;
    for (const std::string& shape : of_size) {
      if (pass == passes.size()) passes.emplace_back();
      passes[pass] += (passes[pass].empty() ? "" : ",") + shape;
      ++pass;
    }
  }
  return passes;
}

Functions functions_in(const std::string& cache) {
  Functions functions;
  for (const std::string& file : prove::with_extension(prove::signs_now(cache).files, ".so")) {
    const std::string function = prove::function_of(file);
    if (!is_for_any_shape(function)) functions.insert(function);
  }
  return functions;
}

}  // namespace clbake::builder::learn
