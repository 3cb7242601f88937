#include "report/release/release_report.hpp"

#include "report/page.hpp"

namespace clbake::tool {
namespace embedded {

// Written at build time from the files of these names beside this one.
extern const char release_report_html[];
extern const char release_report_css[];
extern const char release_report_js[];

}  // namespace embedded

namespace {

constexpr const char* kTitle = "clbake: report of a release";

}  // namespace

std::string release_html(const nlohmann::ordered_json& data) {
  return html_of({kTitle, embedded::release_report_html, embedded::release_report_css, embedded::release_report_js},
                 data);
}

bool is_release_page(const std::string& path) { return begins_with(path, page_begin(kTitle)); }

}  // namespace clbake::tool
