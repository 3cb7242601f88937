// print_variants DIRECTORY NAME...: writes each variant's source to DIRECTORY/NAME.cl and prints its name and build
// options in a line. For tools/lint, which compiles them with clang.
#include <clbake/kernels/generator.hpp>

#include <cstdio>
#include <fstream>

using namespace clbake::kernels;

int main(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const auto parsed = parse(argv[i]);
    if (const auto* refusal = std::get_if<std::string>(&parsed)) {
      std::fprintf(stderr, "%s\n", refusal->c_str());
      return 1;
    }
    const Kernel kernel = generate(std::get<Params>(parsed));
    std::ofstream file(std::string(argv[1]) + "/" + kernel.name + ".cl");
    if (!(file << kernel.source << std::flush)) return 1;
    std::printf("%s %s\n", kernel.name.c_str(), kernel.build_options.c_str());
  }
}
