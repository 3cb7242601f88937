#include "tune/journal.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace clbake::builder {
namespace {

using Json = nlohmann::json;

constexpr double kMaxS = 1e9;          // thirty years
constexpr std::size_t kMaxShown = 60;  // characters of a setting in a message

Json to_json(const JournalRecord& record) {
  return {{"key", record.key}, {"variants", record.variants}, {"failure", record.failure}, {"at", record.at_s},
          {"us", record.us},   {"late", record.late}};
}

// False when the line is not a record.
bool from_line(const std::string& line, JournalRecord& record) {
  const Json json = Json::parse(line, nullptr, false);
  const auto text = [&](const char* field, std::string& value) {
    const auto at = json.find(field);
    if (at == json.end() || !at->is_string()) return false;
    value = at->get<std::string>();
    return true;
  };
  if (!json.is_object() || !text("key", record.key) || !text("variants", record.variants) ||
      !text("failure", record.failure)) {
    return false;
  }
  const auto at = json.find("at");
  const auto us = json.find("us");
  if (at == json.end() || !at->is_number() || us == json.end() || !us->is_array()) return false;
  record.at_s = at->get<double>();
  if (!(record.at_s >= 0 && record.at_s <= kMaxS)) return false;
  for (const Json& list : *us) {
    if (!list.is_array()) return false;
    std::vector<double>& times = record.us.emplace_back();
    for (const Json& value : list) {
      if (!value.is_number() || !(value.get<double>() > 0)) return false;
      times.push_back(value.get<double>());
    }
  }
  const auto late = json.find("late");
  if (late == json.end() || !late->is_array()) return late == json.end();
  for (const Json& index : *late) {
    if (!index.is_number_unsigned() || index.get<std::size_t>() >= record.us.size()) return false;
    record.late.push_back(index.get<std::size_t>());
  }
  return true;
}

// "seed was 1, is 2; shapes differ".
std::string differences(const std::string& before, const std::string& now) {
  const Json old_settings = Json::parse(before, nullptr, false);
  const Json new_settings = Json::parse(now, nullptr, false);
  if (!old_settings.is_object() || !new_settings.is_object()) return "its first line does not name the options";
  Json all = old_settings;
  all.update(new_settings);
  std::string text;
  for (const auto& [key, value] : all.items()) {
    const std::string was = old_settings.value(key, Json("not set")).dump();
    const std::string is = new_settings.value(key, Json("not set")).dump();
    if (was == is) continue;
    const bool brief = was.size() <= kMaxShown && is.size() <= kMaxShown;
    text += (text.empty() ? "" : "; ") + key;
    text += brief ? std::string(" was ").append(was).append(", is ").append(is) : " differs";
  }
  return text;
}

Result<std::string> read_regular_file(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return std::string();
  if (type != std::filesystem::file_type::regular) return {Code::io, path + ": not a regular file"};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  const bool opened = file.is_open();
  all << file.rdbuf();
  if (!opened || all.bad()) return {Code::io, path + ": cannot read: " + std::strerror(errno)};
  return all.str();
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, const std::string& settings) {
  Result<std::string> text = read_regular_file(path);
  if (!text) return text.status();
  text->resize(text->rfind('\n') == std::string::npos ? 0 : text->rfind('\n') + 1);
  Journal journal;
  journal.path_ = path;
  Status status = journal.read(*text, settings);
  if (status) status = journal.start_writing(text->size(), settings);
  if (!status) return status;
  return journal;
}

Status Journal::read(const std::string& text, const std::string& settings) {
  std::istringstream lines(text);
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (number == 1) {
      if (line == settings) continue;
      return {Code::invalid_argument, path_ +
                                          ": an unfinished tuning with other options: " + differences(line, settings) +
                                          "; give the same options to go on, or --fresh to discard it"};
    }
    JournalRecord record;
    if (!from_line(line, record)) {
      return {Code::malformed,
              path_ + ": line " + std::to_string(number) + ": not a record of a tuning; --fresh starts over"};
    }
    last_s_ = std::max(last_s_, record.at_s);
    records_[record.key] = std::move(record);
  }
  return {};
}

// Behind the complete lines, which are `known_bytes` long; a new file gets its first line.
Status Journal::start_writing(std::size_t known_bytes, const std::string& settings) {
  file_.reset(std::fopen(path_.c_str(), "ab"));
  if (!file_) return {Code::io, path_ + ": cannot open: " + std::strerror(errno)};
  if (ftruncate(fileno(file_.get()), static_cast<off_t>(known_bytes)) != 0) {
    return {Code::io, path_ + ": cannot truncate: " + std::strerror(errno)};
  }
  if (known_bytes > 0) return {};
  if (std::fputs((settings + "\n").c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) {
    return {Code::io, path_ + ": cannot write: " + std::strerror(errno)};
  }
  return {};
}

const JournalRecord* Journal::find(const std::string& key, const std::string& variants) const {
  const auto at = records_.find(key);
  return at != records_.end() && at->second.variants == variants ? &at->second : nullptr;
}

Status Journal::add(JournalRecord record) {
  // Failures quote drivers, whose text is not always UTF-8.
  const std::string line = to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) {
    return {Code::io, path_ + ": cannot write: " + std::strerror(errno)};
  }
  last_s_ = std::max(last_s_, record.at_s);
  records_[record.key] = std::move(record);
  return {};
}

}  // namespace clbake::builder
