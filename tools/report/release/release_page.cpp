#include "report/release/release_report.hpp"

#include <clbake/os/files.hpp>

namespace clbake::tool {
namespace embedded {

// Written at build time from the files of these names beside this one.
extern const char page_html[];
extern const char page_css[];
extern const char page_js[];

}  // namespace embedded

namespace {

// JSON that can stand in a <script>. In JSON '<' is only ever part of a string, where it may be written like this; the
// serializer writes all that is not ASCII as \u.... (U+2028 as well), and U+FFFD for what is not UTF-8.
std::string script_text(const nlohmann::ordered_json& json) {
  std::string text;
  for (const char c : json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace)) {
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  }
  return text;
}

// Puts the text where the template says so; each of these marks is in it once.
void fill(std::string& page, const std::string& place, const std::string& text) {
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

std::string release_html(const nlohmann::ordered_json& data) {
  std::string html = embedded::page_html;
  fill(html, "/* style */", embedded::page_css);
  fill(html, "/* script */", embedded::page_js);
  fill(html, "/* data */", script_text(data));  // last: text of others may contain a mark
  return html;
}

bool is_release_page(const std::string& path) {
  const std::string html = embedded::page_html, begin = html.substr(0, html.find('\n', html.find("<title>")));
  const Result<os::Mapping> file = os::map_file(path);
  return file && file->size >= begin.size() && std::equal(begin.begin(), begin.end(), file->data);
}

}  // namespace clbake::tool
