#include "build/pack.hpp"

#include <clbake/cache/writer.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>

namespace clbake::builder {
namespace {

bool holds(const std::string& path, const cache::Bytes& bytes) {
  std::ifstream file(path, std::ios::binary);
  const cache::Bytes present{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return file.is_open() && present == bytes;
}

}  // namespace

void add_job(cache::Contents& contents, const Job& job) {
  const auto index_of = [](auto& list, const auto& item, const auto& same) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& other) { return same(other, item); });
    if (found != list.end()) return static_cast<std::uint32_t>(found - list.begin());
    list.push_back(item);
    return static_cast<std::uint32_t>(list.size() - 1);
  };
  const std::uint32_t target = index_of(contents.targets, job.target, std::equal_to<>());
  cache::Variant variant = job.variant;
  variant.source = index_of(contents.sources, job.source, std::equal_to<>());
  const std::uint32_t index = index_of(
      contents.variants, variant, [](const cache::Variant& a, const cache::Variant& b) { return a.name == b.name; });
  for (cache::Entry entry : job.entries) {
    entry.target = target;
    entry.variant = index;
    contents.entries.push_back(std::move(entry));
  }
}

Status write_if_changed(const std::string& path, const cache::Bytes& bytes) {
  if (holds(path, bytes)) return {};
  return cache::write_file(path, {bytes.data(), bytes.size()});
}

}  // namespace clbake::builder
