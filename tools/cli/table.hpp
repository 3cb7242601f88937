// Tables for people, from the same JSON that programs get.
#pragma once

#include "cli/json.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace clbake::tool {

// How a cell shows its value.
using CellText = std::string (*)(const Json& value);

// A dash for null, "yes" or "NO", a whole number, four digits of another one, "A, B" for a list, printable text.
std::string cell_text(const Json& value);

std::string size_cell(const Json& bytes);

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
