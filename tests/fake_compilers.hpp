// Fake compilers for the offline targets: shell scripts that play clang, ptxas and ocloc as a test wants them.
#pragma once

#include <clbake/builder/scratch.hpp>

#include <string>

namespace clbake::tests {

// Scripts that succeed.
constexpr const char* kGoodClang = "printf '.entry clbake_gemm(\\n.param .u32 a\\n)\\n{\\nret;\\n}\\n' > kernel.ptx";
// Called with -arch sm_NN -o OUTPUT INPUT; leaves the header of a cubin for that architecture.
constexpr const char* kGoodPtxas =
    "case $2 in sm_80) capability='\\120';; *) capability='\\132';; esac\n"
    "zeros() { head -c $1 /dev/zero; }\n"
    "{ printf '\\177ELF\\2\\1\\0\\0\\10'; zeros 9; printf '\\276'; zeros 30; printf $capability; zeros 14; } > \"$4\"";

// A prefix with bin/, meant to be all of PATH, and with a libclc.
class FakeCompilers {
 public:
  FakeCompilers();

  void add(const std::string& name, const std::string& script);
  // Answers the questions for version and architectures; otherwise runs `script`.
  void add_clang(const std::string& script, const std::string& known = "sm_80 sm_86 sm_90a sm_100");
  void add_ptxas(const std::string& script, const std::string& version = "12.4.99");  // knows sm_80 and sm_90
  // They answer and name their output as the real ones do; the machine code is an ELF header only.
  void add_ocloc_22_43();
  void add_ocloc_26_27();

  std::string bin() const { return path("bin"); }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

 private:
  void add_ocloc(const std::string& version, const std::string& listed, const std::string& help_status,
                 const std::string& resolved, const std::string& suffix);
  builder::process::ScratchDirectory directory_;
};

}  // namespace clbake::tests
