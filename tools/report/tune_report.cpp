#include "report/tune_report.hpp"

#include <clbake/cache/writer.hpp>

#include "report/model_picture.hpp"

#include <filesystem>
#include <fstream>

namespace clbake::tool {
namespace embedded {

// Written at build time from the files of these names beside this one.
extern const char tune_report_html[];
extern const char tune_report_css[];
extern const char tune_report_js[];

}  // namespace embedded

namespace {

// JSON that can stand in a <script>. In JSON '<' is only ever part of a string, where it may be written like this; the
// serializer writes all that is not ASCII as \u.... (U+2028 as well), and U+FFFD for what is not UTF-8.
std::string script_text(const nlohmann::ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

// Puts the text where the template says so; each of these marks is in it once.
void fill(std::string& page, const std::string& place, const std::string& text) {
  page.replace(page.find(place), place.size(), text);
}

bool is_picture(const std::string& path) { return std::filesystem::path(path).extension() == ".svg"; }

Result<std::string> picture_alone(const builder::Tuning& tuning) {
  std::string picture = model_picture(tuning);
  if (picture.empty()) return {Code::not_found, "the profile has no cost models, or no times of final races"};
  return picture;
}

}  // namespace

Result<std::string> report_html(const builder::Tuning& tuning) {
  const Result<nlohmann::ordered_json> data = report_data(tuning);
  if (!data) return data.status();
  std::string page = embedded::tune_report_html;
  fill(page, "/* tune_report.css */", embedded::tune_report_css);
  fill(page, "/* tune_report.js */", embedded::tune_report_js);
  const std::string picture = model_picture(tuning);
  fill(page, "<!-- picture -->", picture.empty() ? "<p>No cost models, or no final races.</p>" : picture);
  fill(page, "/* data */", script_text(*data));  // last: text of others may contain a mark
  return page;
}

bool is_report(const std::string& path) {
  const std::string page = embedded::tune_report_html;
  const std::string title = "<title>";
  const std::string page_begin = page.substr(0, page.find('\n', page.find(title)));
  const std::string begin = is_picture(path) ? kPictureBegin : page_begin;
  std::string found(begin.size(), '\0');
  std::ifstream in(path, std::ios::binary);
  return in.read(found.data(), static_cast<std::streamsize>(found.size())) && found == begin;
}

Status write_report(const std::string& path, const builder::Tuning& tuning) {
  const Result<std::string> page = is_picture(path) ? picture_alone(tuning) : report_html(tuning);
  if (!page) return page.status();
  return cache::write_file(path, {reinterpret_cast<const std::uint8_t*>(page->data()), page->size()});
}

}  // namespace clbake::tool
