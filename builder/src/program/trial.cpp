#include "program/trial.hpp"

#include "process/text_file.hpp"

#include <clbake/os/paths.hpp>

#include <algorithm>
#include <utility>

namespace clbake::builder::program {
using namespace process;
namespace {

constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 32;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Content content_of(cache::Bytes bytes) {
  const std::uint64_t size = bytes.size();
  return {std::move(bytes), size};
}

constexpr std::size_t kMaxKernels = 4096;
constexpr std::size_t kMaxSizes = 4096;
constexpr std::size_t kMaxTrials = 4096;
constexpr std::uint32_t kMaxExtent = 1U << 30;
constexpr std::size_t kLeastKept = 4096;  // bytes of each file

bool read_extents(JsonReader& reader, const JsonValue& at, std::uint32_t least, Extents3& extents) {
  if (!at.json.is_array() || at.json.empty() || at.json.size() > 3) {
    return reader.fail(at, "is not a list of one to three sizes");
  }
  extents = {least, least, least};
  std::size_t dimension = 0;
  return reader.list(at, [&](const JsonValue& item) {
    std::uint32_t extent = 0;
    if (!reader.read(item, extent)) return false;
    extents[dimension++] = extent;
    return (extent >= least && extent <= kMaxExtent) ||
           reader.fail(item, "is not between " + std::to_string(least) + " and 2^30");
  });
}

// A size, or null.
bool read_local(JsonReader& reader, const JsonValue& at, Extents3& size) {
  size = kDriversChoice;
  return at.json.is_null() || read_extents(reader, at, 1, size);
}

bool read_trial(JsonReader& reader, const JsonValue& at, TrialFiles& files, const std::vector<Extents3>& sizes,
                Trial& trial) {
  const auto global =
      json_field("global", [&](const JsonValue& v) { return read_extents(reader, v, 1, trial.global); });
  const auto offset =
      json_field("offset", [&](const JsonValue& v) { return read_extents(reader, v, 0, trial.offset); });
  const auto local =
      json_field("local", [&](const JsonValue& v) { return read_local(reader, v, trial.sizes.emplace_back()); });
  const auto arguments = json_field(
      "arguments", [&](const JsonValue& list) { return read_arguments(reader, list, files, trial.arguments); });
  if (!reader.object(at, global, optional(offset), optional(local), arguments)) return false;
  if (trial.sizes.empty()) trial.sizes = sizes;
  if (trial.sizes.empty()) trial.sizes.push_back(kDriversChoice);
  return true;
}

bool is_kernel_name(const std::string& name) {
  const std::string fits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return !name.empty() && name.size() <= 1024 && name.find_first_not_of(fits) == std::string::npos;
}

// Trials may run at sizes that the list lacks; a kernel without any size leaves it to the driver.
void complete_sizes(TriedKernel& kernel) {
  std::vector<Extents3>& all = kernel.work_group_sizes;
  for (const Trial& trial : kernel.trials) {
    for (const Extents3& size : trial.sizes) {
      if (std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
    }
  }
  if (all.empty()) all.push_back(kDriversChoice);
}

bool read_kernel(JsonReader& reader, const JsonValue& at, TrialFiles& files, TriedKernel& kernel) {
  const auto name = json_field("name", [&](const JsonValue& v) {
    if (!reader.read(v, kernel.name)) return false;
    return is_kernel_name(kernel.name) || reader.fail(v, "is no name of a kernel");
  });
  const auto sizes = json_field("work_group_sizes", [&](const JsonValue& v) {
    return read_list(reader, v, 0, kMaxSizes, kernel.work_group_sizes, read_local);
  });
  const auto read = [&](JsonReader&, const JsonValue& v, Trial& trial) {
    return read_trial(reader, v, files, kernel.work_group_sizes, trial);
  };
  const auto trials = json_field(
      "trials", [&](const JsonValue& v) { return read_list(reader, v, 0, kMaxTrials, kernel.trials, read); });
  if (!reader.object(at, name, sizes, trials)) return false;
  complete_sizes(kernel);
  return true;
}

}  // namespace

SharedContent bytes_of_hex(const std::string& digits) {
  if (digits.size() % 2 != 0) return nullptr;
  const auto content = std::make_shared<Content>(content_of(cache::Bytes(digits.size() / 2)));
  for (std::size_t i = 0; i < content->begin.size(); ++i) {
    const int high = digit_value(digits[2 * i]), low = digit_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return nullptr;
    content->begin[i] = static_cast<std::uint8_t>(16 * high + low);
  }
  return content;
}

std::string hex_of(const std::uint8_t* bytes, std::size_t size) {
  std::string digits;
  digits.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (const int part : {bytes[i] >> 4, bytes[i] & 15}) digits += "0123456789abcdef"[part];
  }
  return digits;
}

SharedContent TrialFiles::find(const std::string& name) {
  const auto known = files_.find(name);
  if (known != files_.end()) return known->second;
  const std::string path = os::joined_path(directory_, name);
  const Result<std::string> text = directory_.empty() ? Result<std::string>(Code::not_found, name + ": is not there")
                                                      : read_text_file(path, kMostFileBytes);
  if (!text && failure_.empty()) failure_ = text.status().message();
  if (!text) return nullptr;
  Content content = content_of({text->begin(), text->end()});
  return files_.emplace(name, std::make_shared<const Content>(std::move(content))).first->second;
}

std::vector<std::string> TrialFiles::names() const {
  std::vector<std::string> all;
  for (const auto& file : files_) all.push_back(file.first);
  return all;
}

Json TrialFiles::json(std::size_t kept) const {
  Json list = Json::array();
  for (const auto& [name, content] : files_) {
    const cache::Bytes& bytes = content->begin;
    const auto is_zero = [](std::uint8_t byte) { return byte == 0; };
    const auto cut = bytes.rend() - static_cast<std::ptrdiff_t>(std::min(kept, bytes.size()));
    const auto end = std::find_if_not(cut, bytes.rend(), is_zero).base();
    list.push_back({name, content->size, hex_of(bytes.data(), static_cast<std::size_t>(end - bytes.begin()))});
  }
  return list;
}

bool TrialFiles::read(JsonReader& reader, const JsonValue& at, TrialFiles& files) {
  return reader.list(at, [&](const JsonValue& row) {
    std::string name, digits;
    std::uint64_t size = 0;
    const bool read =
        reader.row(row, reader.field("name", name), reader.field("bytes", size), reader.field("hex", digits));
    if (!read) return false;
    const SharedContent begin = bytes_of_hex(digits);
    if (!begin || begin->size > size || size > kMostFileBytes) return reader.fail(row, "is no file");
    files.files_[name] = std::make_shared<const Content>(Content{begin->begin, size});
    return true;
  });
}

std::string size_text(const Extents3& size) {
  if (size == kDriversChoice) return "NULL";
  return std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" + std::to_string(size[2]);
}

std::string TrialCase::name() const { return "kernel " + kernel.name + ", work-group size " + size_text(size); }

std::vector<TrialCase> cases_of(const std::vector<TriedKernel>& kernels) {
  std::vector<TrialCase> cases;
  for (const TriedKernel& kernel : kernels) {
    for (const Trial& trial : kernel.trials) {
      for (const Extents3& size : trial.sizes) cases.push_back({kernel, trial, size});
    }
  }
  return cases;
}

bool read_kernels(JsonReader& reader, const JsonValue& at, TrialFiles& files, std::vector<TriedKernel>& kernels) {
  return read_list(reader, at, 1, kMaxKernels, kernels, [&](JsonReader&, const JsonValue& v, TriedKernel& kernel) {
    return read_kernel(reader, v, files, kernel);
  });
}

std::string trial_text(const Json& kernels, const TrialFiles& files, std::size_t most_bytes, std::string& remark) {
  if (files.empty()) return kernels.dump();
  std::string text = Json{{"files", files.json(most_bytes)}, {"kernels", kernels}}.dump();
  for (std::size_t kept = most_bytes / 4; text.size() > most_bytes && kept >= kLeastKept; kept /= 2) {
    text = Json{{"files", files.json(kept)}, {"kernels", kernels}}.dump();
    remark = "the bundle keeps the first " + std::to_string(kept / 1024) +
             " KiB of each content of its trials; zeros take the place of the rest";
  }
  return text;
}

std::optional<std::string> without_cut_trials(const std::string& trial, const std::set<std::string>& kernels) {
  Result<Json> json = parse_trial(trial) ? parse_json(trial) : Status(Code::malformed, {});
  if (!json) return std::nullopt;
  const auto is_cut = [](const Json& each) {
    const Json& arguments = each["arguments"];
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const Json& argument) { return argument.value("truncated", false); });
  };
  bool has_cut = false;
  for (Json& each : json->is_array() ? *json : (*json)["kernels"]) {
    if (kernels.count(each["name"]) == 0) continue;
    Json rest = Json::array();
    for (const Json& one : each["trials"]) {
      if (!is_cut(one)) rest.push_back(one);
    }
    has_cut = has_cut || rest.size() < each["trials"].size();
    each["trials"] = std::move(rest);
  }
  if (!has_cut) return std::nullopt;
  return json->dump();
}

std::set<std::string> kernels_with_fewer_trials(const std::string& rest, const std::string& trial) {
  const Result<std::vector<TriedKernel>> fewer = parse_trial(rest), all = parse_trial(trial);
  std::set<std::string> kernels;
  for (std::size_t i = 0; fewer && all && i < std::min(fewer->size(), all->size()); ++i) {
    if ((*fewer)[i].trials.size() < (*all)[i].trials.size()) kernels.insert((*all)[i].name);
  }
  return kernels;
}

Result<std::vector<TriedKernel>> parse_trial(const std::string& trial) {
  if (trial.empty()) return {Code::not_found, "it has no trials: it was learnt, or they were left out of the bundle"};
  const Result<Json> json = parse_json(trial);
  if (!json) return json.status().within("the program's trials");
  JsonReader reader;
  TrialFiles files("");
  std::vector<TriedKernel> kernels;
  const auto read_files = json_field("files", [&](const JsonValue& v) { return TrialFiles::read(reader, v, files); });
  const auto read = json_field("kernels", [&](const JsonValue& v) { return read_kernels(reader, v, files, kernels); });
  const bool done = json->is_array() ? read.read({*json}) : reader.object({*json}, read_files, read);
  if (!done) return {Code::malformed, "the program's trials: " + reader.failure()};
  if (!files.failure().empty()) return {Code::malformed, "the program's trials: " + files.failure()};
  return kernels;
}

}  // namespace clbake::builder::program
