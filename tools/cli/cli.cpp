#include "cli/cli.hpp"

#include <clbake/builder/release/signing.hpp>
#include <clbake/builder/shape/shape.hpp>
#include <clbake/cache/writer.hpp>
#include <clbake/os/files.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

namespace clbake::tool {
namespace {

namespace po = boost::program_options;

// True when programs that the bundle has for another target run on the device.
bool serves(const Bundle& bundle, const Target& device) {
  for (std::uint32_t t = 0; t < bundle.target_count(); ++t) {
    const Result<Target> target = bundle.target(t);
    if (target && (newer_driver_serves(*target, device) || portable_serves(*target, device))) return true;
  }
  return false;
}

// Why the arguments are wrong. Boost's messages replace %option% and the like as long as there are any: for ever,
// where an argument holds one.
std::string reason(const std::exception& error, const std::vector<std::string>& arguments) {
  const auto typed = std::find_if(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.find('%') != argument.rfind('%');
  });
  const bool from_boost = dynamic_cast<const po::error*>(&error) != nullptr;
  return from_boost && typed != arguments.end() ? "cannot read the arguments, of which '" + *typed + "' is one"
                                                : error.what();
}

// The words before the options and files.
std::string verb_in(const std::string& synopsis) {
  std::size_t end = synopsis.size();
  for (const char* const next : {" [", " -", " F"}) end = std::min(end, synopsis.find(next));
  return synopsis.substr(0, end);
}

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

// The character that begins at `at`. Longer forms than needed and halves of surrogate pairs are not UTF-8.
Character character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return {};
  std::uint32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  constexpr std::uint32_t least[] = {0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[bytes - 2] || surrogate || code > 0x10FFFF ? Character{} : Character{code, bytes};
}

bool shown(const Character& c) {
  const bool control = c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0);
  return c.bytes > 0 && !control && c.code != 0xFFFE && c.code != 0xFFFF;
}

}  // namespace

const std::atomic<bool>& interrupted() { return os::interrupted(); }

Status verify_all(const Bundle& bundle) {
  const Status intact = bundle.verify();
  return intact ? builder::release::check_digests(bundle) : intact;
}

int fail(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  return kFailure;
}

int fail(const char* verb, const Status& status) {
  return fail("clbake " + std::string(verb) + ": " + printable(status.message()));
}

struct Cli::Options {
  po::options_description declared{"options", 110};
  po::variables_map values;
};

Cli::Cli(std::string synopsis, std::string summary)
    : synopsis_(std::move(synopsis)), summary_(std::move(summary)), options_(std::make_unique<Options>()) {
  options_->declared.add_options()("help,h", "show this text");
}

Cli::Cli(Cli&&) noexcept = default;
Cli::~Cli() = default;

bool Cli::has(const char* option) const { return options_->values.count(option) > 0; }

void Cli::add_flag(const char* names, const char* help) { options_->declared.add_options()(names, help); }

void Cli::add_value(const char* names, const char* value, const char* help) {
  options_->declared.add_options()(names, po::value<std::string>()->value_name(value), help);
}

void Cli::add_required(const char* names, const char* value, const char* help) {
  options_->declared.add_options()(names, po::value<std::string>()->required()->value_name(value), help);
}

void Cli::add_list(const char* names, const char* value, const char* help) {
  options_->declared.add_options()(names, po::value<std::vector<std::string>>()->composing()->value_name(value), help);
}

void Cli::add_arguments(const char* names, const char* value, const char* help) {
  options_->declared.add_options()(
      names, po::value<std::vector<std::string>>()->multitoken()->composing()->value_name(value), help);
}

void Cli::add_device(const std::string& remark) {
  const std::string help =
      "a device of 'clbake devices': its index, its identity, or part of its or its platform's name" + remark;
  add_value("device", "SPEC", help.c_str());
}

void Cli::add_precision(const char* remark) {
  add_value("precision", "LIST", (std::string(precision_names) + ", separated by commas; default " + remark).c_str());
}

void Cli::add_jobs() { add_value("jobs", "N", "work on N variants at a time; default: one for each core"); }

void Cli::add_timeout(const char* remark) {
  add_value("timeout", "SECONDS", (std::string("give up on a ") + remark).c_str());
}

void Cli::add_json() { add_flag("json", "print JSON"); }

std::optional<int> Cli::parse(const std::vector<std::string>& arguments) {
  const bool or_device = synopsis_.find(" FILE|DEVICE ") != std::string::npos;
  const bool any = synopsis_.find(" [FILE...] ") != std::string::npos;
  const bool several = any || synopsis_.find(" FILE... ") != std::string::npos;
  const bool optional = any || synopsis_.find(" [FILE] ") != std::string::npos;
  const bool takes_file = or_device || several || optional || synopsis_.find(" FILE ") != std::string::npos;
  const std::string verb = verb_in(synopsis_);
  po::options_description all;
  all.add(options_->declared);
  po::positional_options_description positional;
  if (takes_file) {
    all.add_options()("FILE", po::value<std::vector<std::string>>());
    positional.add("FILE", -1);
  }
  try {
    // Without guessing: an abbreviated option would change its meaning when another one is added.
    const int style = po::command_line_style::default_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(arguments).options(all).positional(positional).style(style).run(),
              options_->values);
    if (has("help")) {
      std::cout << "usage: clbake " << synopsis_ << "\n" << summary_ << "\n" << options_->declared;
      return kSuccess;
    }
    po::notify(options_->values);
    if (!takes_file) return std::nullopt;
    if (has("FILE")) files_ = options_->values["FILE"].as<std::vector<std::string>>();
    if (files_.empty() && !optional) throw UsageError(or_device ? "FILE or DEVICE is missing" : "FILE is missing");
    if (files_.size() > 1 && !several) throw UsageError("more than one FILE given");
    return std::nullopt;
  } catch (const std::exception& error) {
    const std::string why = reason(error, arguments);
    std::fprintf(stderr, "clbake %s: %s; see 'clbake %s --help'\n", verb.c_str(), why.c_str(), verb.c_str());
    return kUsage;
  }
}

std::string Cli::text(const char* option, const char* fallback) const {
  return has(option) ? options_->values[option].as<std::string>() : fallback;
}

std::vector<std::string> Cli::list(const char* option) const {
  std::vector<std::string> all;
  if (!has(option)) return all;
  for (const std::string& given : options_->values[option].as<std::vector<std::string>>()) {
    const std::vector<std::string> parts = split(given, ',');
    if (parts.empty()) throw UsageError("--" + std::string(option) + ": '" + given + "' names nothing");
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

std::size_t Cli::size(const char* option, std::size_t fallback, std::size_t least, std::size_t most) const {
  if (!has(option)) return fallback;
  const std::string given = text(option);
  errno = 0;
  const unsigned long long value = std::strtoull(given.c_str(), nullptr, 10);
  if (given.empty() || given.find_first_not_of("0123456789") != std::string::npos || errno != 0) {
    throw UsageError("--" + std::string(option) + ": '" + given + "' is not a whole number");
  }
  if (value < least || value > most) {
    throw UsageError("--" + std::string(option) + ": " + given + " is not between " + std::to_string(least) + " and " +
                     std::to_string(most));
  }
  return static_cast<std::size_t>(value);
}

double Cli::number(const char* option, double fallback) const { return complex_number(option, fallback, 1).real(); }

std::complex<double> Cli::complex_number(const char* option, double fallback, std::size_t most) const {
  if (!has(option)) return fallback;
  const std::string given = text(option);
  const std::vector<std::string> parts = split(given, ',');
  double values[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    char* end = nullptr;
    if (i < parts.size()) values[i] = std::strtod(parts[i].c_str(), &end);
    const bool is_number = i < parts.size() ? *end == '\0' && std::isfinite(values[i]) : i > 0;
    if (is_number && parts.size() <= most) continue;
    throw UsageError("--" + std::string(option) + ": '" + given + "' is not a finite number" +
                     (most > 1 ? ", or two of them" : ""));
  }
  return {values[0], values[1]};
}

std::vector<Precision> Cli::precisions(const char* option) const {
  if (!has(option)) return {Precision::single_precision, Precision::double_precision};
  std::vector<Precision> wanted;
  for (const std::string& name : split(text(option), ',')) {
    GemmKind known;
    if (!builder::parse_precision(name, known)) {
      throw UsageError("--" + std::string(option) + ": '" + name + "' is none of " + precision_names);
    }
    if (std::find(wanted.begin(), wanted.end(), known.precision) == wanted.end()) wanted.push_back(known.precision);
  }
  if (wanted.empty()) throw UsageError("--" + std::string(option) + ": no precision given");
  return wanted;
}

std::vector<Precision> Cli::real_precisions(const char* option) const {
  std::vector<Precision> wanted = precisions(option);
  for (const Precision precision : wanted) {
    if (!is_complex(precision)) continue;
    throw UsageError("--" + std::string(option) + ": " + clbake::name(precision) +
                     " products are computed by variants of " + clbake::name(real_precision(precision)) +
                     ": give that");
  }
  return wanted;
}

std::chrono::seconds Cli::timeout(std::size_t fallback) const {
  return std::chrono::seconds(size("timeout", fallback, 1, 86400));
}

unsigned Cli::jobs() const { return static_cast<unsigned>(size("jobs", 0, 1, 1024)); }

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  std::string part;
  while (std::getline(stream, part, separator)) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string counted(std::size_t count, const std::string& noun) {
  const std::string number = std::to_string(count) + " ";
  if (count == 1) return number + noun;
  return number + (noun.back() == 'y' ? noun.substr(0, noun.size() - 1) + "ies" : noun + "s");
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr const char* units[] = {"KB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < std::size(units); ++unit) size /= 1000;
  char text[32];
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, size, units[unit]);
  return text;
}

std::string printable(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character(text, at);
    const std::size_t bytes = c.bytes > 0 ? c.bytes : 1;
    out += shown(c) ? text.substr(at, bytes) : "?";
    at += bytes;
  }
  return out;
}

std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(os::native(path), error)) return path;
  const std::filesystem::path file = std::filesystem::weakly_canonical(os::native(path), error);
  return error ? path : os::utf8(file);
}

void write_text(const std::string& path, const std::string& text) {
  need(cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}));
}

void check_not_input(const std::string& output, const std::vector<std::string>& inputs, const std::string& where) {
  for (const std::string& input : inputs) {
    std::error_code error;  // for example, there is no output yet
    if (!std::filesystem::equivalent(os::native(output), os::native(input), error)) continue;
    need(Status(Code::invalid_argument, output + ": is also an input, " + input + "; it stays as it is"), where);
  }
}

void check_replaceable(const std::string& path, const char* kind, const std::function<bool()>& is_one,
                       const std::string& where) {
  std::error_code error;
  const std::filesystem::path file = os::native(path);
  const bool is_file = std::filesystem::is_regular_file(file, error);
  if (!std::filesystem::exists(file, error)) return;
  if (is_file && (std::filesystem::file_size(file, error) == 0 || is_one())) return;
  need(Status(Code::invalid_argument, path + ": exists and is not " + kind + "; it stays as it is"), where);
}

Bundle open_verified(const std::string& path, const std::string& where) {
  const Bundle bundle = need(Bundle::open(path), where);
  need(verify_all(bundle).within(path), where);
  return bundle;
}

cache::Bytes read_verified(const std::string& path) {
  need(Bundle::open(path).status());
  const os::Mapping file = need(os::map_file(path));
  cache::Bytes bytes(file.data, file.data + file.size);
  const Bundle bundle = need(Bundle::from_memory({bytes.data(), bytes.size()}), path);  // the file may have changed
  need(verify_all(bundle), path);
  return bytes;
}

std::size_t signatures_in(const std::string& file) {
  const Result<Bundle> bundle = Bundle::open(file);
  if (!bundle) return 0;
  const Result<std::vector<cache::Signature>> signatures = bundle->signatures();
  return signatures ? signatures->size() : 0;
}

std::size_t tell_of_dropped(const char* verb, const std::string& file, std::size_t before) {
  const std::size_t after = before > 0 ? signatures_in(file) : 0;
  if (before <= after) return 0;
  const std::size_t dropped = before - after;
  std::fprintf(stderr, "clbake %s: %s is not signed any more: %s not hold for it ('clbake sign')\n", verb, file.c_str(),
               (counted(dropped, "signature") + (dropped == 1 ? " does" : " do")).c_str());
  return dropped;
}

std::vector<builder::Device> selected_devices(const std::string& spec) {
  return need(builder::select_devices(need(builder::list_devices()), spec), "--device");
}

builder::Device device_for(const Bundle& bundle, const std::string& spec) {
  const std::vector<builder::Device> selected = selected_devices(spec);
  for (const builder::Device& device : selected) {
    if (bundle.find_target(device.target)) return device;
  }
  for (const builder::Device& device : selected) {
    if (serves(bundle, device.target)) return device;
  }
  return need(builder::select_one_target(need(builder::list_devices()), spec), "--device").front();
}

}  // namespace clbake::tool
