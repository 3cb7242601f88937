#include "cli/json.hpp"

#include "cli/cli.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>

namespace clbake::tool {
namespace {

const char* name(builder::build::JobReport::Outcome outcome) {
  switch (outcome) {
    case builder::build::JobReport::Outcome::pending: return "pending";
    case builder::build::JobReport::Outcome::baked: return "baked";
    case builder::build::JobReport::Outcome::reused: return "reused";
    case builder::build::JobReport::Outcome::failed: return "failed";
  }
  return "unknown";
}

}  // namespace

Json to_json(const Target& target) {
  Json json = Json::object();
  for (const auto& [name, text] : cache::kTargetTexts) json[name] = target.*text;
  json["address_bits"] = target.address_bits;
  return json;
}

Json to_json(const cache::Proof& proof) {
  Json tools = Json::array();
  for (const cache::Tool& tool : proof.tools) tools.push_back({{"name", tool.name}, {"version", tool.version}});
  const auto figure = [&](float value) { return proof.proven ? Json(value) : Json(); };
  return {{"proven", proof.proven},
          {"jit_free", proof.jit_free},
          {"load_us", figure(proof.load_us())},
          {"create_us", figure(proof.create_us)},
          {"build_us", figure(proof.build_us)},
          {"kernel_us", figure(proof.kernel_us)},
          {"first_us", figure(proof.first_us)},
          {"steady_us", figure(proof.steady_us)},
          {"max_error", figure(proof.max_error)},
          {"tolerance", figure(proof.tolerance)},
          {"specialisations", proof.specialisations},
          {"tools", tools},
          {"device", proof.proven ? Json(proof.device) : Json()},
          {"driver", proof.proven ? Json(proof.driver) : Json()},
          {"note", proof.note}};
}

Json to_json(const builder::build::JobReport& job) {
  const bool failed = job.outcome == builder::build::JobReport::Outcome::failed;
  return {{"variant", job.variant},
          {"device", job.device},
          {"outcome", name(job.outcome)},
          {"cause", failed ? Json(job.cause) : Json()},
          {"proof", job.proof.proven ? to_json(job.proof) : Json()}};
}

void print(const Json& json) {
  // Drivers may report names that are not UTF-8: shown with a replacement character.
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

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

std::string name_cell(const Json& name) {
  return cell_text(name.is_string() ? Json(builder::program::shown_name(name.get<std::string>())) : name);
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
