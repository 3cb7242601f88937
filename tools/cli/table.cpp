#include "cli/table.hpp"

#include "cli/cli.hpp"
#include "cli/printable.hpp"

#include <algorithm>
#include <cstdio>

namespace clbake::tool {

std::string cell_text(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "NO";
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_array()) {
    std::string list;
    for (const Json& item : value) list += (list.empty() ? "" : ", ") + cell_text(item);
    return list;
  }
  if (!value.is_number_float()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value.get<double>());
  return text;
}

std::string size_cell(const Json& bytes) { return size_text(bytes.get<std::uint64_t>()); }

void print_table(const std::vector<Column>& columns, const Json& rows, std::size_t most) {
  const std::size_t shown = std::min(rows.size(), most);
  std::vector<std::string> lines(1 + shown);
  for (const Column& column : columns) {
    std::vector<std::string> cells = {column.title};
    bool is_there = rows.empty(), left = false;
    for (std::size_t r = 0; r < shown; ++r) {
      const auto value = rows[r].find(column.key);
      const bool has = value != rows[r].end();
      is_there = is_there || has;
      left = left || (has && (value->is_string() || value->is_array()));
      cells.push_back(has ? column.text(*value) : "");
    }
    if (!is_there) continue;
    std::size_t width = 0;
    for (const std::string& cell : cells) width = std::max(width, cell.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string blanks(width - cells[i].size(), ' ');
      lines[i] += (lines[i].empty() ? "" : "  ") + (left ? cells[i] + blanks : blanks + cells[i]);
    }
  }
  for (const std::string& line : lines) std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  if (rows.size() > shown) std::printf("and %zu more\n", rows.size() - shown);
}

void print_table(const Json& rows) {
  std::vector<Column> columns;
  if (rows.empty()) return;
  for (auto field = rows.at(0).begin(); field != rows.at(0).end(); ++field) columns.emplace_back(field.key().c_str());
  print_table(columns, rows);
}

}  // namespace clbake::tool
