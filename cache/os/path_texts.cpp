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

bool is_separator(char c) { return c == '/' || c == '\\'; }

// The text of a path with both slashes of a Windows share, if `path` has them: libstdc++ drops one.
std::string on_share_of(const std::string& path, const std::string& text) {
  const bool is_share = kHasShares && path.size() > 1 && is_separator(path[0]) && is_separator(path[1]);
  return is_share && text[0] == '/' && text.compare(0, 2, "//") != 0 ? "/" + text : text;
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
  return on_share_of(path, text_of(path, [](const fs::path& p) { return p.lexically_normal(); }));
}

std::string joined_path(const std::string& folder, const std::string& name) {
  const bool is_rooted = !name.empty() && is_separator(name[0]);
  return on_share_of(is_rooted ? name : folder,
                     text_of(name, [&](const fs::path& p) { return (fs::u8path(folder) / p).lexically_normal(); }));
}

}  // namespace clbake::os
