#include <clbake/builder/program_skeleton.hpp>

#include <clbake/includes.hpp>
#include "process/json_reader.hpp"
#include "process/text_file.hpp"
#include "program/flatten.hpp"
#include "program/signature.hpp"

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <sstream>

namespace clbake::builder::program {
using namespace process;
namespace {

namespace fs = std::filesystem;
using Kind = TrialArgument::Kind;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{15} << 20;
constexpr std::size_t kItems = 256, kElements = 4096, kLocalBytes = 4096, kExtent = 64;

struct FoundKernel {
  std::string name;
  Extents3 required = {0, 0, 0};  // its work-group size; zeros: any
  std::vector<Parameter> parameters;
};

// ---- By the driver

// Empty when the source does not build, or the driver does not tell what its kernels take.
std::vector<FoundKernel> built_kernels(const Device& device, const std::string& text, const std::string& options) {
  std::vector<FoundKernel> kernels;
  const Result<Session> session = Session::open(device);
  if (!session) return kernels;
  const cl::Device id(device.id, true);
  cl_int error = CL_SUCCESS;
  const cl::Program program(cl::Context(session->context(), true), text, false, &error);
  if (error != CL_SUCCESS || program.build({id}, (options + " -cl-kernel-arg-info").c_str()) != CL_SUCCESS) {
    return kernels;
  }
  std::vector<cl::Kernel> all;
  cl::Program(program).createKernels(&all);
  for (const cl::Kernel& kernel : all) {
    FoundKernel& found = kernels.emplace_back();
    found.name = kernel.getInfo<CL_KERNEL_FUNCTION_NAME>().c_str();
    const auto size = kernel.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(id);
    for (std::size_t d = 0; d < 3; ++d) found.required[d] = static_cast<std::uint32_t>(size[d]);
    if (!tells_parameters(kernel())) return {};
    found.parameters = parameters_of(kernel());
  }
  std::sort(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return kernels;
}

// ---- By the text

// Reads "global const float* restrict x".
Parameter parameter_of(const std::string& declaration) {
  Parameter parameter;
  std::istringstream words(std::regex_replace(declaration, std::regex("\\*"), " * "));
  std::vector<std::string> left;
  bool is_pointer = false, is_local = false;
  for (std::string word; words >> word;) {
    const std::string plain = word.rfind("__", 0) == 0 ? word.substr(2) : word;
    static const std::regex qualifier(
        "const|restrict|volatile|global|constant|private|read_only|write_only|read_write|struct");
    is_pointer = is_pointer || word == "*";
    is_local = is_local || plain == "local";
    if (plain == "unsigned") left.emplace_back("u");
    if (word == "*" || plain == "local" || plain == "unsigned" || std::regex_match(plain, qualifier)) continue;
    !left.empty() && left.back() == "u" ? left.back() += plain : left.emplace_back(plain);
  }
  parameter.name = left.size() > 1 ? left.back() : "";
  parameter.type = left.empty() ? "" : left.front();
  parameter.kind = is_local                                ? Kind::local
                   : parameter.type.rfind("image", 0) == 0 ? Kind::image
                   : parameter.type == "sampler_t"         ? Kind::sampler
                   : is_pointer                            ? Kind::buffer
                                                           : Kind::value;
  if (is_pointer) parameter.type += "*";
  return parameter;
}

std::vector<FoundKernel> read_kernels_in(const std::string& text) {
  static const std::regex pattern(
      R"(\b(?:__)?kernel\b((?:\s|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\))*)void((?:\s|__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\))*)\s(\w+)\s*\(([^)]*)\))");
  static const std::regex required(R"(reqd_work_group_size\s*\(\s*(\d{1,6})\s*,\s*(\d{1,6})\s*,\s*(\d{1,6})\s*\))");
  std::vector<FoundKernel> kernels;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    const std::string name = (*it)[3], attributes = (*it)[1].str() + (*it)[2].str();
    const auto is_it = [&](const FoundKernel& kernel) { return kernel.name == name; };
    if (std::any_of(kernels.begin(), kernels.end(), is_it)) continue;  // declared before
    FoundKernel& kernel = kernels.emplace_back();
    kernel.name = name;
    std::smatch size;
    for (std::size_t d = 0; d < 3 && std::regex_search(attributes, size, required); ++d) {
      kernel.required[d] = static_cast<std::uint32_t>(std::stoul(size[d + 1]));
    }
    std::istringstream list((*it)[4]);
    for (std::string declaration; std::getline(list, declaration, ',');) {
      const Parameter parameter = parameter_of(declaration);
      if (!parameter.type.empty() && parameter.type != "void") kernel.parameters.push_back(parameter);
    }
  }
  return kernels;
}

// ---- The manifest

Json argument_of(const Parameter& parameter) {
  std::string type = parameter.type;
  switch (parameter.kind) {
    case Kind::local: return {{"local", kLocalBytes}};
    case Kind::sampler:
      return {{"sampler", {{"normalized", false}, {"addressing", "CLAMP_TO_EDGE"}, {"filter", "NEAREST"}}}};
    case Kind::image: {
      const ImageShape* const known = image_shape_of(type);
      const ImageShape* const shape = known ? known : image_shape("2d");
      Json image = {{"image", shape->name}, {"order", "RGBA"}, {"type", "FLOAT"}, {"width", kExtent}};
      if (shape->dimensions > 1) image["height"] = kExtent;
      if (shape->dimensions > 2) image["depth"] = kExtent;
      if (shape->is_array) image["array_size"] = 2;
      return image;
    }
    case Kind::value: {
      const ElementType element = element_type(type);
      const Json one = element.number->is_float() ? 1 : static_cast<int>(kExtent);
      return {{"scalar", type}, {"value", element.width == 1 ? one : Json(std::vector<Json>(element.width, one))}};
    }
    default: break;
  }
  type.resize(std::min(type.find_first_of("* "), type.size()));
  return {{"buffer", element_type(type).number ? type : "bytes"}, {"count", kElements}};
}

// A struct, whose content only the application knows.
bool is_struct(const Parameter& parameter) {
  return parameter.kind == Kind::value && !element_type(parameter.type).number;
}

// A line of the manifest.
std::string kernel_text(const FoundKernel& kernel, std::vector<std::string>& remarks) {
  const bool is_any = kernel.required == kDriversChoice;
  Json arguments = Json::array();
  for (const Parameter& parameter : kernel.parameters) {
    if (!is_struct(parameter)) arguments.push_back(argument_of(parameter));
  }
  Json global = {kItems};
  if (!is_any) global = {4 * kernel.required[0], kernel.required[1], kernel.required[2]};
  Json sizes = Json::array({is_any ? Json::array({64}) : Json(kernel.required)});
  Json trials = Json::array();
  const auto unknown = std::find_if(kernel.parameters.begin(), kernel.parameters.end(), is_struct);
  if (unknown == kernel.parameters.end()) {
    trials.push_back({{"global", std::move(global)}, {"arguments", std::move(arguments)}});
  } else {
    remarks.push_back("kernel " + kernel.name + " has no trial, as its argument " +
                      std::to_string(unknown - kernel.parameters.begin()) + " is a struct (" + unknown->type +
                      "): \"bytes\" states its content");
  }
  return Json{{"name", kernel.name}, {"work_group_sizes", std::move(sizes)}, {"trials", std::move(trials)}}.dump();
}

std::string name_of(const std::string& file) {
  std::string name = fs::path(file).stem().string().substr(0, 64);
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !is_plain(c); }, '_');
  return name.empty() || name[0] == '-' ? "program" + name : name;
}

Result<std::vector<FoundKernel>> kernels_in(const std::string& file, const SkeletonOptions& options,
                                            std::vector<std::string>& remarks) {
  const Result<std::string> text = read_text_file(file, kMostBytes);
  const Result<includes::Options> read = text ? includes::read_options(options.options) : text.status();
  if (!read) return read.status();
  IncludePlaces places{".", read->folders, read->definitions, {}};
  places.folders.emplace_back();
  const Result<FlatSource> flat = flatten(file, *text, places);
  if (!flat) return flat.status();
  if (options.device) {
    std::vector<FoundKernel> kernels = built_kernels(*options.device, flat->text, read->others);
    if (!kernels.empty()) return kernels;
    remarks.push_back(file + ": does not build with these options; its kernels are those that the text shows");
  }
  return read_kernels_in(includes::without_comments(flat->text));
}

}  // namespace

Result<Skeleton> program_skeleton(const SkeletonOptions& options) {
  Skeleton skeleton;
  std::string programs;
  for (const std::string& file : options.files) {
    const Result<std::vector<FoundKernel>> kernels = kernels_in(file, options, skeleton.remarks);
    if (!kernels) return kernels.status();
    if (kernels->empty()) return {Code::no_program, file + ": has no kernel"};
    Json head = {{"name", name_of(file)}, {"source", fs::proximate(file, options.directory).string()}};
    if (!options.options.empty()) head["options"] = options.options;
    std::string text = head.dump();
    text.pop_back();  // the brace
    text += ", \"kernels\": [";
    for (std::size_t k = 0; k < kernels->size(); ++k)
      text += (k == 0 ? "\n    " : ",\n    ") + kernel_text((*kernels)[k], skeleton.remarks);
    programs += (programs.empty() ? "\n  " : ",\n  ") + text + "]}";
  }
  skeleton.manifest = "{\"version\": 2, \"programs\": [" + programs + "]}\n";
  return skeleton;
}

}  // namespace clbake::builder::program
