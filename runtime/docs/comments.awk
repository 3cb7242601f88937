# Doxygen's input filter: turns the plain comments of the public headers into documentation, so that the headers
# themselves stay free of markup.
#
#   // Text.                      ->  /// Text.              describes the declaration below
#   size_t m;  // Text,           ->  size_t m;  ///< Text,  describes the declaration on the line
#              // more text.      ->             ///< more text.
#   //   code;                    ->  a code block
#   /* ---- Text ---- */          ->  a group, up to the next heading (clbake.h)
#
# Doxygen alone reads special comments only (///, /**); none of its options makes it read plain ones.

# Escapes what Doxygen would take as a command or a tag.
function escape(text) {
  gsub(/[\\@<>]/, "\\\\&", text)
  return text
}

# Prints one line of documentation. Three blanks or more at its beginning make it code.
function document(indent, mark, text) {
  if (text !~ /^   /) {
    end_code(indent, mark)
    print indent mark escape(text)
    return
  }
  if (!in_code) print indent mark " @code{.cpp}"
  in_code = 1
  print indent mark " " substr(text, 4)
}

function end_code(indent, mark) {
  if (in_code) print indent mark " @endcode"
  in_code = 0
}

function end_group() {
  if (in_group) print "/** @} */"
  in_group = 0
}

# The comment at the top of a file describes the file.
FNR == 1 && /^\/\// { print "/// @file" }
FNR == 1 && /^\/\*/ { print "/** @file"; print " *" escape(substr($0, 3)); in_comment = 1; next }

# ---- clbake.h: comments of C, which may span lines. ----

in_comment {
  text = $0
  last = sub(/ *\*\/$/, "", text)
  sub(/^ *\*?/, "", text)
  document("", " *", text)
  if (!last) next
  end_code("", " *")
  print " */"
  in_comment = 0
  next
}
/^\/\* ---- .* ---- \*\/$/ {
  end_group()
  print "/** @name " escape(substr($0, 9, length($0) - 16)) " */ /** @{ */"
  in_group = 1
  next
}
/^#ifdef __cplusplus/ { end_group() }
/^ *\/\*/ {
  text = $0
  sub(/^ *\/\*/, "", text)
  in_comment = !sub(/ *\*\/$/, "", text)
  print "/**" escape(text) (in_comment ? "" : " */")
  next
}
/\/\* .* \*\/$/ { sub(/\/\* /, "/**< "); print; next }

# ---- C++ ----

/^ *\/\/ NOLINT/ { print; next }  # addresses clang-tidy
# A comment on a line of its own continues one behind a declaration when both begin in the same column.
match($0, /^ *\/\//) {
  document(substr($0, 1, RLENGTH - 2), RLENGTH - 1 == column ? "///<" : "///", substr($0, RLENGTH + 1))
  next
}
{ end_code("", "///"); column = 0 }
match($0, /  \/\/ /) {
  column = RSTART + 2
  print substr($0, 1, column - 1) "///<" escape(substr($0, column + 2))
  next
}
{ print }
