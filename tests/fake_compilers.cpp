#include "fake_compilers.hpp"

#include "files.hpp"

#include <filesystem>

namespace clbake::tests {

namespace fs = std::filesystem;

FakeCompilers::FakeCompilers() : directory_(required(builder::ScratchDirectory::create())) {
  fs::create_directories(bin());
  fs::create_directories(path("lib/clc"));
  write_file(path("lib/clc/nvptx64--nvidiacl.bc"), "BC");
}

void FakeCompilers::add(const std::string& name, const std::string& script) {
  const std::string file = bin() + "/" + name;
  write_file(file, "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n");
  fs::permissions(file, fs::perms::owner_all);
}

void FakeCompilers::add_clang(const std::string& script, const std::string& known) {
  add("clang-30", "case \"$*\" in\n*--version) echo clang version 30.1.2; exit;;\n*--print-supported-cpus) echo " +
                      known + "; exit;;\nesac\n" + script);
}

void FakeCompilers::add_ptxas(const std::string& script, const std::string& version) {
  add("ptxas", "case \"$1\" in\n--version) echo release, V" + version +
                   "; exit;;\n--help) echo \"'sm_80', 'sm_90'\"; exit;;\nesac\n" + script);
}

}  // namespace clbake::tests
