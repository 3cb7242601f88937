#include <clbake/os/paths.hpp>

#include <system_error>

namespace clbake::os {

namespace fs = std::filesystem;

namespace {

// `part` of a path, as text. On Windows a path that is not UTF-8 stays as it is: it names nothing, in one piece, too.
template <typename Part>
std::string text_of(const std::string& path, const Part& part) {
  try {
    return part(fs::u8path(path)).generic_u8string();
  } catch (const std::system_error&) {
    return path;
  }
}

}  // namespace

std::string parent_of(const std::string& path) {
  return text_of(path, [](const fs::path& p) { return p.parent_path(); });
}

std::string file_name_of(const std::string& path) {
  return text_of(path, [](const fs::path& p) { return p.filename(); });
}

std::string stem_of(const std::string& path) {
  return text_of(path, [](const fs::path& p) { return p.stem(); });
}

std::string normal(const std::string& path) {
  const std::string text = text_of(path, [](const fs::path& p) { return p.lexically_normal(); });
  // libstdc++ does not know the names of Windows' shares.
  const auto is_separator = [](char c) { return c == '/' || c == '\\'; };
  const bool on_share = kHasShares && path.size() > 1 && is_separator(path[0]) && is_separator(path[1]);
  return on_share && text.compare(0, 2, "//") != 0 ? "/" + text : text;
}

std::string joined_path(const std::string& folder, const std::string& name) {
  return normal(text_of(name, [&](const fs::path& p) { return fs::u8path(folder) / p; }));
}

}  // namespace clbake::os
