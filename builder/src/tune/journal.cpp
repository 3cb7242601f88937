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

constexpr double kLongestS = 1e9;  // thirty years: no tuning took longer

Json to_json(const JournalRecord& record) {
  return {{"key", record.key}, {"variants", record.variants}, {"failure", record.failure}, {"at", record.at_s},
          {"us", record.us},   {"late", record.late}};
}

// False when the line is no record.
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
  if (!(record.at_s >= 0 && record.at_s <= kLongestS)) return false;
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
  for (const Json& place : *late) {
    if (!place.is_number_unsigned() || place.get<std::size_t>() >= record.us.size()) return false;
    record.late.push_back(place.get<std::size_t>());
  }
  return true;
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, const std::string& settings) {
  Journal journal;
  journal.path_ = path;
  std::string text;
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type != std::filesystem::file_type::not_found && type != std::filesystem::file_type::regular) {
    return {Code::io, path + ": is no file"};
  }
  {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    const bool unreadable = !file.is_open() && errno != ENOENT;
    all << file.rdbuf();
    if (unreadable || all.bad()) return {Code::io, path + ": cannot read: " + std::strerror(errno)};
    text = all.str();
  }
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  std::istringstream lines(text);
  std::string line;
  std::size_t number = 0;
  while (std::getline(lines, line)) {
    if (++number == 1) {
      if (line == settings) continue;
      return {Code::invalid_argument,
              path + ": is an unfinished tuning of another device or with other options; " + "--fresh throws it away"};
    }
    JournalRecord record;
    if (!from_line(line, record)) {
      return {Code::malformed,
              path + ": line " + std::to_string(number) + ": no record of a tuning; --fresh starts over"};
    }
    journal.last_s_ = std::max(journal.last_s_, record.at_s);
    journal.records_[record.key] = std::move(record);
  }
  journal.file_.reset(std::fopen(path.c_str(), "ab"));
  if (!journal.file_) return {Code::io, path + ": cannot open: " + std::strerror(errno)};
  // Without the half line, if there is one.
  if (ftruncate(fileno(journal.file_.get()), static_cast<off_t>(text.size())) != 0) {
    return {Code::io, path + ": cannot truncate: " + std::strerror(errno)};
  }
  if (number == 0 &&
      (std::fputs((settings + "\n").c_str(), journal.file_.get()) < 0 || std::fflush(journal.file_.get()) != 0)) {
    return {Code::io, path + ": cannot write: " + std::strerror(errno)};
  }
  return journal;
}

const JournalRecord* Journal::find(const std::string& key, const std::string& variants) const {
  const auto at = records_.find(key);
  return at != records_.end() && at->second.variants == variants ? &at->second : nullptr;
}

Status Journal::add(JournalRecord record) {
  // Causes hold whatever a driver said: not always UTF-8.
  const std::string line = to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) {
    return {Code::io, path_ + ": cannot write: " + std::strerror(errno)};
  }
  last_s_ = std::max(last_s_, record.at_s);
  records_[record.key] = std::move(record);
  return {};
}

}  // namespace clbake::builder
