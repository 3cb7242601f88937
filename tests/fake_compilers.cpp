#include "fake_compilers.hpp"

#include "files.hpp"

#include <filesystem>

namespace clbake::tests {

namespace fs = std::filesystem;

FakeCompilers::FakeCompilers() : directory_(required(builder::process::ScratchDirectory::create())) {
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

// `listed`: the help's text; `resolved`: a shell pattern of the names that `ocloc ids` knows; `suffix`: what is
// appended to the name that -output gives.
void FakeCompilers::add_ocloc(const std::string& version, const std::string& listed, const std::string& help_status,
                              const std::string& resolved, const std::string& suffix) {
  add("ocloc", "case \"$1 $2\" in\nquery*) printf '" + version +
                   "\\0' > \"$2\"; exit;;\n"
                   "'compile --help') printf '" +
                   listed + "'; exit " + help_status + ";;\nids*) case $2 in " + resolved +
                   ") echo Matched ids:; exit;; *) echo \"Error: Unknown acronym $2.\"; exit 226;; esac;;\nesac\n"
                   "while [ $# -gt 0 ]; do [ \"$1\" = -output ] && output=$2; shift; done\n"
                   "printf '\\177ELF' > \"$output" +
                   suffix + "\"");
}

void FakeCompilers::add_ocloc_22_43() {
  add_ocloc("22.43.24595.",
            "Usage: ocloc compile\\n  -device <device_type>  Target device.\\n  <device_type> can be: skl, icllp, "
            "tgllp, adl-p, dg1, pvc, version "
            "or hexadecimal value\\n  Deprecated notation\\n  <device_type> can be: xe_hp_sdv, dg2\\n  -q Quiet\\n",
            "212", "skl|icllp|tgllp|adlp|adl-p|dg1|pvc", "");
}

void FakeCompilers::add_ocloc_26_27() {
  add_ocloc("26.27.039122",
            "Usage: ocloc compile\\n  -device <device_type>  Target device.\\n  <device_type> can be: tgl, tgllp, "
            "adl-p, dg1, dg2, pvc, arl-s, mtl, "
            "bmg, lnl-m, ptl, ip version or hexadecimal value\\n",
            "0", "tgllp|adlp|adl-p|dg1|dg2|pvc|mtl|arl|bmg|lnl|ptl", ".bin");
}

}  // namespace clbake::tests
