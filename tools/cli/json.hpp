// clbake's values as JSON, for programs, and as tables of the same JSON, for people.
#pragma once

#include <clbake/builder/build.hpp>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace clbake::tool {

using Json = nlohmann::ordered_json;

Json to_json(const Target& target);
Json to_json(const cache::Proof& proof);
Json to_json(const builder::build::JobReport& job);

// Two spaces of indentation and a newline, on stdout.
void print(const Json& json);

// How a cell shows its value.
using CellText = std::string (*)(const Json& value);

// A dash for null, "yes" or "NO", a whole number, four digits of another one, "A, B" for a list, printable text.
std::string cell_text(const Json& value);

std::string size_cell(const Json& bytes);

// The name of a variant or a program as messages show it.
std::string name_cell(const Json& name);

struct Column {
  const char* title;
  const char* key;  // of each row; a row without it has an empty cell, and a column that no row has is left out
  CellText text = cell_text;

  Column(const char* name) : title(name), key(name) {}
  Column(const char* column_title, const char* of_key, CellText of_value = cell_text)
      : title(column_title), key(of_key), text(of_value) {}
};

// A line for each row below the titles, texts on the left of their columns and everything else on the right. Of more
// rows than `most` the rest is only counted.
void print_table(const std::vector<Column>& columns, const Json& rows, std::size_t most = SIZE_MAX);

// All fields of the first row, below their names; nothing without rows.
void print_table(const Json& rows);

}  // namespace clbake::tool
