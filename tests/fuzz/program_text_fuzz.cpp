// Texts of programs are what any application gives, and encoded ones come from files and from other processes. Whatever
// they hold, an encoded text is decoded to one value, or refused; and of a source it is found in bounded time what it
// may include, or why that cannot be told. The first line of a source's input is its options.
#include <clbake/includes.hpp>
#include <clbake/program_text.hpp>
#include "fuzz.hpp"

namespace {

using namespace clbake;
using clbake::fuzz::expect;

void decode(const std::string& text) {
  const Result<ProgramText> program = decode_program_text(text);
  if (!program) {
    expect(!program.status().message().empty(), "a refused text has a cause");
    return;
  }
  const Result<ProgramText> again = decode_program_text(encode(*program));
  expect(again && encode(*again) == encode(*program), "a text is read again as it is written");
}

void scan(const std::string& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const Result<includes::Options> options = includes::read_options(text.substr(0, end));
  if (!options) return;
  includes::Files files{{"a.h", "#define A(x) #x\n#include \"b.h\""}, {"b.h", "#define B A(a.h)"}};
  const Status added = includes::add_included(text.substr(end), *options, files);
  expect(added || !added.message().empty(), "a failure has a cause");
  expect(files.count("a.h") == 1, "given files stay");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  decode(text);
  scan(text);
  return 0;
}
