// replay DIRECTORY: runs a fuzz target on every file of its corpus, in any build and with any compiler. Each file is
// tried as it is, cut in half, and without its last byte; so is the empty input.
#include "fuzz.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

namespace {

// In memory of exactly this size, so that a sanitizer sees a read past the end.
void run(const std::vector<std::uint8_t>& bytes, std::size_t size) {
  const std::vector<std::uint8_t> input(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: replay DIRECTORY\n", stderr);
    return 2;
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  run({}, 0);
  for (const std::string& path : paths) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);  // a crash names the file
    std::ifstream file(path, std::ios::binary);
    const std::vector<std::uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
    for (const std::size_t size :
         {bytes.size(), bytes.size() / 2, bytes.size() - std::min<std::size_t>(bytes.size(), 1)}) {
      run(bytes, size);
    }
  }
  return paths.empty() ? 1 : 0;
}
