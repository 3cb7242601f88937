#include "report/svg.hpp"

#include "cli/printable.hpp"

#include <cstdio>

namespace clbake::tool {

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string text_at(double x, double y, const char* classes, const std::string& text) {
  return "<text x=\"" + number(x, 1) + "\" y=\"" + number(y, 1) + "\" class=\"" + classes + "\">" + escaped(text) +
         "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* classes) {
  return "<line x1=\"" + number(x1, 1) + "\" y1=\"" + number(y1, 1) + "\" x2=\"" + number(x2, 1) + "\" y2=\"" +
         number(y2, 1) + "\" class=\"" + classes + "\"/>\n";
}

}  // namespace clbake::tool
