#include "report/tune_report.hpp"

#include "report/model_picture.hpp"
#include "report/page.hpp"

#include <filesystem>

namespace clbake::tool {
namespace embedded {

// Written at build time from the files of these names beside this one.
extern const char tune_report_html[];
extern const char tune_report_css[];
extern const char tune_report_js[];

}  // namespace embedded

namespace {

constexpr const char* kTitle = "clbake: report of a tuning";

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
  const std::string place = "<!-- picture -->";
  const std::string picture = model_picture(tuning);
  std::string body = embedded::tune_report_html;
  body.replace(body.find(place), place.size(), picture.empty() ? "<p>No cost models, or no final races.</p>" : picture);
  return html_of({kTitle, body, embedded::tune_report_css, embedded::tune_report_js}, *data);
}

bool is_report(const std::string& path) {
  return begins_with(path, is_picture(path) ? kPictureBegin : page_begin(kTitle));
}

Status write_report(const std::string& path, const builder::Tuning& tuning) {
  const Result<std::string> page = is_picture(path) ? picture_alone(tuning) : report_html(tuning);
  if (!page) return page.status();
  return write_page(path, *page);
}

}  // namespace clbake::tool
