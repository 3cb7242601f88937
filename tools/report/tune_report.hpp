// A tuning as a page for people: one HTML file that needs neither network nor anything beside it.
#pragma once

#include <clbake/builder/tuning.hpp>

#include <nlohmann/json.hpp>
#include <string>

namespace clbake::tool {

// What the page shows, as its script reads it (tune_report_data.cpp says what is where): the measurements counted into
// bins, and names only of variants that are shown, so that thirty thousand measurements stay a small file. Figures that
// are not finite, or times of zero, are left out. Fails with malformed when an index of the tuning points nowhere.
Result<nlohmann::ordered_json> report_data(const builder::Tuning& tuning);

// The whole page. Text of drivers and compilers in it cannot end up as markup. Fails like report_data.
Result<std::string> report_html(const builder::Tuning& tuning);

// Whether the file begins as such a page does; for a name that ends in .svg, as a picture.
bool is_report(const std::string& path);

// Writes the page to a file, or its picture of measured and expected times alone if the name ends in .svg: the old file
// or the complete new one at any moment. Fails with io, too, and with not_found when there is nothing for the picture.
Status write_report(const std::string& path, const builder::Tuning& tuning);

}  // namespace clbake::tool
