#include "report/browser.hpp"

#include "command.hpp"

#include <cstdio>
#include <cstdlib>

namespace clbake::tool::test {
namespace {

// In the page, before anything else.
constexpr const char* kListen = R"(<script>
window.complaints = [];
addEventListener("error", event => complaints.push(event.message));
addEventListener("securitypolicyviolation", event => complaints.push("policy: " + event.violatedDirective));
console.error = console.warn = text => complaints.push(String(text));
</script>)";

// Around the page, which is in a frame: Chromium's own windows are no narrower than 500 pixels.
constexpr const char* kTell = R"(<script>
const frame = document.getElementById("page");
frame.onload = () => {
  const page = frame.contentWindow, all = page.document.querySelectorAll("[data-figure]");
  const shown = {complaints: page.complaints, width: page.innerWidth,
                 needed: page.document.documentElement.scrollWidth,
                 figures: [...all].map(element => [element.dataset.figure, element.textContent])};
  const text = document.createElement("pre");
  text.textContent = JSON.stringify(shown).replace(/[<>&]/g, "?");
  document.body.replaceChildren(text);
};
</script>)";

void replace_all(std::string& text, const std::string& part, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += with.size()) {
    text.replace(at, part.size(), with);
  }
}

std::string chromium() {
  const Outcome found =
      shell("for name in chromium-headless-shell chromium google-chrome; do command -v $name && exit; done; exit 1");
  if (found.status == 0) return found.out.substr(0, found.out.find('\n'));
  std::printf("skipped: no Chromium on this machine\n");
  std::fflush(stdout);
  std::_Exit(77);
}

}  // namespace

ShownPage shown_in_browser(const std::string& html, int width) {
  static const std::string command = chromium();
  const Directory directory;
  std::string page = html;
  page.insert(page.find("<head>") + 6, kListen);
  replace_all(page, "&", "&amp;");
  replace_all(page, "\"", "&quot;");
  const std::string file = directory.write(
      "page.html", "<!DOCTYPE html><body><iframe id=\"page\" height=\"2000\" style=\"border:0\" width=\"" +
                       std::to_string(width) + "\" srcdoc=\"" + page + "\"></iframe>" + kTell);
  const Outcome outcome =
      shell("HOME='" + directory.path("home") + "' timeout 120 '" + command +
            "' --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=1400,2000 "
            "--user-data-dir='" +
            directory.path("profile") + "' --dump-dom 'file://" + file + "'");
  const std::size_t begin = outcome.out.find("<pre>"), end = outcome.out.find("</pre>");
  BOOST_REQUIRE_MESSAGE(begin != std::string::npos && end != std::string::npos, outcome.out << outcome.err);
  const nlohmann::json json = nlohmann::json::parse(outcome.out.substr(begin + 5, end - begin - 5));
  return {json["complaints"], json["width"], json["needed"], json["figures"]};
}

}  // namespace clbake::tool::test
