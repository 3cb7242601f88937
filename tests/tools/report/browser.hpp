// A page as a browser shows it: headless Chromium, where that is installed.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace clbake::tool::test {

struct ShownPage {
  std::vector<std::string> complaints;  // errors and warnings of its scripts and of its security policy
  int width = 0;                        // that the page has, in CSS pixels
  int needed = 0;                       // more than that: it scrolls sideways
  std::vector<std::pair<std::string, std::string>> figures;  // data-figure and text of the elements that have it
};

// The page after its script has run. Ends the whole program as skipped (77) where there is no Chromium.
ShownPage shown_in_browser(const std::string& html, int width);

}  // namespace clbake::tool::test
