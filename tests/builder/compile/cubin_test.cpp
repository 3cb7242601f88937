// NVIDIA's machine code: how it is recognised, and ptxas, real and pretended, which makes it.
#include "build_fixture.hpp"
#include "compile/cubins.hpp"
#include "compile/offline/offline_tools.hpp"

#include "compile/nvidia/cubin.hpp"

#include <sys/stat.h>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace clbake::builder::test {
using namespace compile;
namespace {

// Puts directories in front of PATH for as long as it lives.
class Path {
 public:
  explicit Path(const std::string& directories) : before_(std::getenv("PATH")) {
    setenv("PATH", (directories + ":" + before_).c_str(), 1);
  }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  ~Path() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

// A script in a directory of its own, called as ptxas is: -arch ARCHITECTURE -o OUTPUT INPUT.
class Script {
 public:
  explicit Script(const std::string& text) : directory_(tests::required(process::ScratchDirectory::create())) {
    const std::string version = "[ \"$1\" = --version ] && { echo 'release 99.1, V99.1.2'; exit; }\n";
    write("ptxas", "#!/bin/sh\nhere=" + directory_.path() + "\n" + version + text);
    chmod(path("ptxas").c_str(), 0700);
  }

  const std::string& directory() const { return directory_.path(); }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const { write_file(path(name), text); }
  void write(const std::string& name, const cache::Bytes& bytes) const {
    write(name, std::string(bytes.begin(), bytes.end()));
  }

  Result<Cubin> assemble() const {
    const Path first(directory());
    return builder::compile::assemble(small_ptx(), "sm_90", Assembler::ptxas);
  }

 private:
  process::ScratchDirectory directory_;
};

boost::test_tools::assertion_result has_ptxas(boost::unit_test::test_unit_id) { return !ptxas_tool().path.empty(); }

boost::test_tools::assertion_result has_gpu(boost::unit_test::test_unit_id) {
  return assemble(small_ptx(), "sm_90", Assembler::libcuda).status().code() != Code::no_device;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheArchitectureIsReadFromBothLayouts) {
  BOOST_TEST(cubin_architecture(handmade_cubin(80, 7)) == "sm_80");
  BOOST_TEST(cubin_architecture(handmade_cubin(90, 7)) == "sm_90");
  BOOST_TEST(cubin_architecture(handmade_cubin(90, 8)) == "sm_90");
  BOOST_TEST(cubin_architecture(handmade_cubin(121, 8)) == "sm_121");
  BOOST_TEST(cubin_architecture(handmade_cubin(0, 8)) == "");
  BOOST_TEST(cubin_architecture(handmade_cubin(90, 9)) == "");  // a layout that nobody knows
}

BOOST_AUTO_TEST_CASE(NoCubinIsTakenForOne) {
  const std::string texts[] = {"", "\x7f\x45LF", small_ptx(), std::string(500, '\0'), std::string(500, '\xff')};
  for (const std::string& text : texts) {
    const cache::Bytes bytes(text.begin(), text.end());
    BOOST_TEST(cubin_architecture(bytes) == "");
  }
  for (const std::size_t at : {0U, 1U, 2U, 3U, 4U, 5U, 18U, 19U}) {  // magic, 64 bits, little-endian, machine
    cache::Bytes bytes = handmade_cubin(90);
    bytes[at] ^= 0x40;
    BOOST_TEST(cubin_architecture(bytes) == "", "byte " << at);
  }
}

BOOST_AUTO_TEST_CASE(ACubinThatWasCutOffIsNone) {
  const cache::Bytes whole = handmade_cubin(90);
  BOOST_TEST(cubin_architecture(whole) == "sm_90");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const cache::Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    BOOST_TEST(cubin_architecture(part) == "", size << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(OtherNamesThanNvidiasAreNoArchitecture) {
  for (const char* name : {"", "sm_", "gfx90a", "90", "sm_9x", "sm_-90", "sm_090", "sm_90b", "sm_90aa", "sm_9000"}) {
    BOOST_TEST(outcome(assemble(small_ptx(), name)) == "invalid argument", name);
  }
}

BOOST_AUTO_TEST_CASE(PtxasGetsTheTextAndItsCubinComesBack) {
  const Script script("echo $1 $2 $3 > $here/arguments; cp \"$5\" $here/seen; cp $here/made \"$4\"");
  script.write("made", handmade_cubin(90));
  const Result<Cubin> cubin = script.assemble();
  BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
  BOOST_TEST((cubin->bytes == handmade_cubin(90)));
  BOOST_TEST((cubin->tool == cache::Tool{"ptxas", "99.1.2"}));
  BOOST_TEST(read_file(script.path("arguments")) == "-arch sm_90a -o\n");
  BOOST_TEST(read_file(script.path("seen")) ==
             std::string(small_ptx().c_str()));  // without the zero, which ptxas refuses
}

BOOST_AUTO_TEST_CASE(WhatGoesWrongInPtxasIsTold) {
  const auto message = [](const std::string& text) {
    const Script script(text);
    script.write("other", handmade_cubin(80));
    const Result<Cubin> cubin = script.assemble();
    BOOST_TEST(outcome(cubin) == "build failed");
    return cubin.status().message();
  };
  BOOST_TEST(message("echo 'line 4; error: what'; echo aborted; exit 255") == "ptxas: line 4; error: what");
  BOOST_TEST(message("exit 3") == "ptxas: exit status 3");
  BOOST_TEST(message("echo words; kill -SEGV $$") == "ptxas: killed by signal 11 (Segmentation fault)");
  const std::string wanted = " where one for sm_90 was asked for";
  BOOST_TEST(message("exit 0") == "ptxas 99.1.2 made no cubin" + wanted);
  BOOST_TEST(message("echo text > \"$4\"") == "ptxas 99.1.2 made no cubin" + wanted);
  BOOST_TEST(message("cp $here/other \"$4\"") == "ptxas 99.1.2 made a cubin for sm_80" + wanted);
}

// No driver has this architecture: the tool that is left is ptxas.
BOOST_AUTO_TEST_CASE(WithoutADeviceOfTheArchitecturePtxasIsAsked) {
  const Script script("cp $here/made \"$4\"");
  script.write("made", handmade_cubin(255));
  const Path path(script.directory());
  const Result<Cubin> cubin = assemble(small_ptx(), "sm_255");
  BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
  BOOST_TEST((cubin->tool == cache::Tool{"ptxas", "99.1.2"}));
}

BOOST_AUTO_TEST_CASE(PtxSaysWhetherLaterArchitecturesRunIt) {
  for (const char* target : {"sm_80", "sm_90", "sm_90, texmode_independent", "sm_100"}) {
    BOOST_TEST(!is_for_one_architecture(small_ptx(target)), target);
  }
  for (const char* target : {"sm_90a", "sm_90a, texmode_independent", "sm_100f"}) {
    BOOST_TEST(is_for_one_architecture(small_ptx(target)), target);
  }
  BOOST_TEST(!is_for_one_architecture("no PTX"));
}

BOOST_AUTO_TEST_CASE(LinkingForOneArchitectureTakesTheOnlyOneOfItsKindOrPtxThatSaysSo) {
  BOOST_TEST(is_linked_for_one_architecture(small_ptx("sm_86"), 90));
  BOOST_TEST(is_linked_for_one_architecture(small_ptx("sm_100a"), 100));
  for (const int capability : {80, 86, 89, 100, 120}) {
    BOOST_TEST(!is_linked_for_one_architecture(small_ptx("sm_80"), capability), capability);
  }
}

BOOST_AUTO_TEST_CASE(RealPtxasMakesCubinsThatAreRecognised, *boost::unit_test::precondition(has_ptxas)) {
  for (const char* architecture : {"sm_80", "sm_90"}) {
    const Result<Cubin> cubin = assemble(small_ptx(), architecture, Assembler::ptxas);
    BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
    BOOST_TEST(cubin_architecture(cubin->bytes) == architecture);
    BOOST_TEST(cubin->tool.name == "ptxas");
    BOOST_TEST(cubin->tool.version[0] == '1');
    cache::Bytes cut = cubin->bytes;
    cut.pop_back();
    BOOST_TEST(cubin_architecture(cut) == "");
  }
  std::string accelerated = small_ptx("sm_90a");
  accelerated.replace(accelerated.find("7.0"), 3, "8.0");
  for (const char* architecture : {"sm_90", "sm_90a"}) {
    const Result<Cubin> cubin = assemble(accelerated, architecture, Assembler::ptxas);
    BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
    BOOST_TEST(cubin_architecture(cubin->bytes) == "sm_90");
  }
  const Result<Cubin> refused = assemble("no PTX", "sm_90", Assembler::ptxas);
  BOOST_TEST(outcome(refused) == "build failed");
  BOOST_TEST(contains(refused.status().message(), "line 1"), refused.status().message());
}

BOOST_AUTO_TEST_CASE(TheRealDriversLibraryMakesCubins, *boost::unit_test::precondition(has_gpu)) {
  const Result<Cubin> cubin = assemble(small_ptx(), "sm_90");
  BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
  BOOST_TEST(cubin_architecture(cubin->bytes) == "sm_90");
  BOOST_TEST(cubin->tool.name == "libcuda");
  BOOST_TEST(cubin->tool.version[0] == '1');
  const std::string wrong = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { nonsense; }\n";
  const Result<Cubin> refused = assemble(wrong, "sm_90");
  BOOST_TEST(outcome(refused) == "build failed");
  BOOST_TEST(contains(refused.status().message(), "line 4"), refused.status().message());
  BOOST_TEST(!contains(refused.status().message(), "\n"), refused.status().message());
}

}  // namespace clbake::builder::test
