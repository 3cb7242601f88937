// Every program of cases.hpp compiles for three generations of devices, as far as ptxas knows them. Skipped without
// clang, libclc and ptxas.
#include "baked.hpp"
#include "files.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <exception>

using namespace clbake;
using namespace clbake::tests;

BOOST_AUTO_TEST_CASE(ProgramsCompileForEveryGeneration) {
  for (const char* architecture : {"sm_90", "sm_80", "sm_70"}) {
    if (!bakes_for(architecture)) continue;
    for (const NvidiaProgram& program : nvidia_programs()) {
      try {
        BOOST_TEST(!baked(program, architecture).empty());
      } catch (const std::exception& error) {
        BOOST_ERROR(program.name + " for " + architecture + ": " + error.what());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(KernelsThatPrintAreRefused) {
  NvidiaKernel kernel;
  kernel.name = "f";
  const NvidiaProgram program = {"prints", "", "kernel void f() { printf(\"%d\\n\", 1); }", "", {kernel}};
  const auto says_why = [](const std::exception& error) { return contains(error.what(), "calls printf"); };
  BOOST_CHECK_EXCEPTION(baked(program, "sm_90"), std::exception, says_why);
}

int main(int argc, char** argv) {
  if (!bakes_for("sm_90")) {
    std::puts("skipped: clang, libclc or ptxas is not here");
    return 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
