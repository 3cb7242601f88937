#include "tune/journal.hpp"

#include "process/json_reader.hpp"
#include "process/text_file.hpp"

#include <algorithm>
#include <sstream>

namespace clbake::builder::tune {
using namespace process;
namespace {

constexpr double kMaxS = 1e9;          // thirty years
constexpr std::size_t kMaxShown = 60;  // characters of a setting in a message
constexpr std::uintmax_t kMostJournalBytes = std::uintmax_t{1} << 30;

Json to_json(const JournalRecord& record) {
  return {{"key", record.key}, {"variants", record.variants}, {"at", record.at_s},
          {"us", record.us},   {"failures", record.failures}, {"late", record.late}};
}

// False when the line is not a record.
bool from_line(const std::string& line, JournalRecord& record) {
  const Result<Json> parsed = parse_json(line);
  if (!parsed) return false;
  try {
    const Json& json = *parsed;
    json.at("key").get_to(record.key);
    json.at("variants").get_to(record.variants);
    json.at("at").get_to(record.at_s);
    json.at("us").get_to(record.us);
    json.at("failures").get_to(record.failures);
    json.at("late").get_to(record.late);
  } catch (const Json::exception&) {
    return false;
  }
  const auto racers = std::count(record.variants.begin(), record.variants.end(), ' ') + 1;
  const auto is_racer = [&](std::size_t racer) { return racer < record.us.size(); };
  bool valid = record.at_s >= 0 && record.at_s <= kMaxS && record.us.size() == static_cast<std::size_t>(racers);
  for (const std::vector<double>& calls : record.us) {
    valid = valid && std::all_of(calls.begin(), calls.end(), [](double us) { return us > 0; });
  }
  for (const auto& [racer, cause] : record.failures) valid = valid && is_racer(racer);
  return valid && std::all_of(record.late.begin(), record.late.end(), is_racer);
}

// "seed was 1, is 2; shapes differ".
std::string differences(const std::string& before, const std::string& now) {
  const Result<Json> old_settings = parse_json(before);
  const Result<Json> new_settings = parse_json(now);
  if (!old_settings || !new_settings || !old_settings->is_object() || !new_settings->is_object()) {
    return "its first line does not name the options";
  }
  Json all = *old_settings;
  all.update(*new_settings);
  std::string text;
  for (const auto& [key, value] : all.items()) {
    const std::string was = old_settings->value(key, Json("not set")).dump();
    const std::string is = new_settings->value(key, Json("not set")).dump();
    if (was == is) continue;
    const bool brief = was.size() <= kMaxShown && is.size() <= kMaxShown;
    text += (text.empty() ? "" : "; ") + key;
    text += brief ? std::string(" was ").append(was).append(", is ").append(is) : " differs";
  }
  return text;
}

}  // namespace

Result<Journal> Journal::open(const std::string& path, const std::string& settings) {
  Result<std::string> text = read_text_file(path, kMostJournalBytes);
  if (!text && text.status().code() == Code::not_found) text = std::string();
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
  Result<os::AppendedFile> file = os::AppendedFile::open(path_);
  if (!file) return file.status();
  file_.emplace(std::move(*file));
  const Status status = file_->truncate(known_bytes);
  return !status || known_bytes > 0 ? status : write(settings);
}

Status Journal::write(const std::string& line) { return file_->append(line + "\n"); }

const JournalRecord* Journal::find(const std::string& key, const std::string& variants) const {
  const auto at = records_.find(key);
  return at != records_.end() && at->second.variants == variants ? &at->second : nullptr;
}

Status Journal::add(const JournalRecord& record) {
  last_s_ = std::max(last_s_, record.at_s);
  // Failures quote drivers, whose text is not always UTF-8.
  return write(to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace clbake::builder::tune
