// Pages for the browser: each is one HTML file that needs neither network nor anything beside it,
// with its figures as JSON, which its script draws.
#pragma once

#include <clbake/status.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace clbake::tool {

struct Page {
  std::string title;
  std::string body;    // HTML
  std::string style;   // CSS, after that of page.css
  std::string script;  // JavaScript, after page.js, whose `page.data` is the JSON
};

// The whole page. Text of drivers and compilers in `data` cannot end up as markup.
std::string html_of(const Page& page, const nlohmann::ordered_json& data);

// The text that each page with this title begins with.
std::string page_begin(const std::string& title);

// True if the file can be read and begins with this text.
bool begins_with(const std::string& path, const std::string& begin);

// Writes a page: the old file or the complete new one at any moment. Fails with io.
Status write_page(const std::string& path, const std::string& text);

}  // namespace clbake::tool
