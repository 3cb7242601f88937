#include <clbake/os/paths.hpp>

namespace clbake::os {
namespace {

std::string text_of(const std::filesystem::path& path) { return path.generic_u8string(); }

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(native(path), error);
  return error ? path : utf8(absolute);
}

std::string parent_of(const std::string& path) { return text_of(std::filesystem::u8path(path).parent_path()); }

std::string file_name_of(const std::string& path) { return text_of(std::filesystem::u8path(path).filename()); }

std::string stem_of(const std::string& path) { return text_of(std::filesystem::u8path(path).stem()); }

std::string normal(const std::string& path) { return text_of(std::filesystem::u8path(path).lexically_normal()); }

std::string joined_path(const std::string& folder, const std::string& name) {
  return text_of((std::filesystem::u8path(folder) / std::filesystem::u8path(name)).lexically_normal());
}

}  // namespace clbake::os
