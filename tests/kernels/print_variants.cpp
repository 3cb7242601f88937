// print_variants DIRECTORY NAME...: writes each variant's source to DIRECTORY/NAME.cl and prints its name and build
// options in a line. For tools/lint, which compiles them with clang.
#include <clbake/kernels/generator.hpp>

#include <cstdio>
#include <fstream>

using namespace clbake::kernels;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: print_variants DIRECTORY NAME...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const auto parsed = parse(argv[i]);
    if (const std::string* refusal = std::get_if<std::string>(&parsed)) {
      std::fprintf(stderr, "%s\n", refusal->c_str());
      return 1;
    }
    const Kernel kernel = generate(std::get<Params>(parsed));
    const std::string path = std::string(argv[1]) + "/" + kernel.name + ".cl";
    std::ofstream file(path);
    file << kernel.source << std::flush;
    if (!file) {
      std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
      return 1;
    }
    std::printf("%s %s\n", kernel.name.c_str(), kernel.build_options.c_str());
  }
}
