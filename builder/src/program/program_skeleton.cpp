#include <clbake/builder/program_skeleton.hpp>

#include <clbake/includes.hpp>
#include <clbake/os/paths.hpp>
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
#include <string_view>
#include <utility>

namespace clbake::builder::program {
using namespace process;
namespace {

namespace fs = std::filesystem;
using Kind = TrialArgument::Kind;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{15} << 20;
constexpr std::size_t kItems = 256, kSkeletonElements = 4096, kLocalBytes = 4096, kExtent = 64;

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

using Words = std::vector<std::string_view>;

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The names, numbers and signs of a text; an empty one marks the end.
Words words_of(std::string_view text) {
  Words words;
  for (std::size_t i = 0, end = 0; i < text.size(); i = end) {
    end = i + 1;
    while (is_of_name(text[i]) && end < text.size() && is_of_name(text[end])) ++end;
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) words.push_back(text.substr(i, end - i));
  }
  words.emplace_back();
  return words;
}

std::string_view without_underscores(std::string_view word) { return word.substr(word.rfind("__", 0) == 0 ? 2 : 0); }

// Reads "global const float* restrict x".
Parameter parameter_of(const Words& declaration) {
  static constexpr std::string_view kQualifiers[] = {"const",   "restrict",  "volatile",   "global", "constant",
                                                     "private", "read_only", "write_only", "struct", "read_write",
                                                     "local",   "unsigned",  "*"};
  Parameter parameter;
  std::vector<std::string> left;
  bool is_pointer = false, is_local = false;
  for (const std::string_view word : declaration) {
    const std::string_view plain = without_underscores(word);
    is_pointer = is_pointer || word == "*";
    is_local = is_local || plain == "local";
    if (plain == "unsigned") left.emplace_back("u");
    if (std::find(std::begin(kQualifiers), std::end(kQualifiers), plain) != std::end(kQualifiers)) continue;
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

// The index behind the parenthesis that closes the one at `open`, else that of the end.
std::size_t behind_parentheses(const Words& words, std::size_t open) {
  std::size_t depth = 0, i = open;
  for (; !words[i].empty(); ++i) {
    if (words[i] == "(") ++depth;
    if (words[i] == ")" && --depth == 0) return i + 1;
  }
  return i;
}

// 0 unless it is a number of at most six digits.
std::uint32_t size_of(std::string_view word) {
  const bool is_size = word.size() <= 6 && word.find_first_not_of("0123456789") == std::string_view::npos;
  return is_size ? static_cast<std::uint32_t>(std::stoul(std::string(word))) : 0;
}

// The index behind attributes; a work-group size among them becomes `required`.
std::size_t behind_attributes(const Words& words, std::size_t i, Extents3& required) {
  while (words[i] == "__attribute__" && words[i + 1] == "(") {
    const std::size_t end = behind_parentheses(words, i + 1);
    for (; i + 7 < end; ++i) {
      const Extents3 size = {size_of(words[i + 2]), size_of(words[i + 4]), size_of(words[i + 6])};
      const bool is_list = words[i + 3] == "," && words[i + 5] == "," && words[i + 7] == ")";
      if (words[i] == "reqd_work_group_size" && is_list && size[0] && size[1] && size[2]) required = size;
    }
    i = end;
  }
  return i;
}

std::vector<FoundKernel> read_kernels_in(const std::string& text) {
  const Words words = words_of(text);
  std::vector<FoundKernel> kernels;
  for (std::size_t i = 0; !words[i].empty();) {
    if (without_underscores(words[i++]) != "kernel") continue;
    FoundKernel kernel;
    i = behind_attributes(words, i, kernel.required);
    if (words[i] != "void") continue;
    i = behind_attributes(words, i + 1, kernel.required);
    if (words[i].empty() || !is_of_name(words[i][0]) || words[i + 1] != "(") continue;
    kernel.name = words[i];
    auto first = words.begin() + static_cast<std::ptrdiff_t>(i + 2);
    i = behind_parentheses(words, i + 1);
    if (words[i - 1] != ")") break;
    const auto is_it = [&](const FoundKernel& other) { return other.name == kernel.name; };
    if (std::any_of(kernels.begin(), kernels.end(), is_it)) continue;  // declared before
    for (const auto end = words.begin() + static_cast<std::ptrdiff_t>(i); first != end;) {
      const auto last = std::find_if(first, end - 1, [](std::string_view word) { return word == ","; });
      const Parameter parameter = parameter_of({first, last});
      if (!parameter.type.empty() && parameter.type != "void") kernel.parameters.push_back(parameter);
      first = last + 1;
    }
    kernels.push_back(std::move(kernel));
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
  return {{"buffer", element_type(type).number ? type : "bytes"}, {"count", kSkeletonElements}};
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
  std::string name = os::stem_of(file).substr(0, 64);
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
    Json head = {{"name", name_of(file)},
                 {"source", os::utf8(fs::proximate(os::native(file), os::native(options.directory)))}};
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
