// NVIDIA's driver library as an assembler: fake_libcuda.cpp, which CTest puts into the library path, stands for it.
#include "build_fixture.hpp"
#include "compile/cubins.hpp"

#include "compile/nvidia/cubin.hpp"

#include <dlfcn.h>
#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace clbake::builder::test {
using namespace compile;
namespace {

int ask_library(const char* function) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  BOOST_REQUIRE_MESSAGE(library, "LD_LIBRARY_PATH has to name the directory of the fake libcuda.so.1");
  auto* answer = reinterpret_cast<int (*)()>(dlsym(library, function));
  BOOST_REQUIRE_MESSAGE(answer, "this is another libcuda.so.1");
  return answer();
}

// Leftovers in the library: links and modules that nobody released.
int alive() { return ask_library("fake_libcuda_alive"); }

Result<Cubin> assemble_told(const char* told, const std::string& architecture, const std::string& ptx = small_ptx()) {
  setenv("FAKE_LIBCUDA", told, 1);
  return assemble(ptx, architecture, Assembler::libcuda);
}

Result<Cubin> assemble_while(const char* told, const std::string& architecture = "sm_90",
                             const std::string& ptx = small_ptx()) {
  Result<Cubin> cubin = assemble_told(told, architecture, ptx);
  BOOST_TEST(alive() == 0, told);
  return cubin;
}

std::string failure(const char* told, const std::string& architecture = "sm_90") {
  const Result<Cubin> cubin = assemble_while(told, architecture);
  return outcome(cubin) + ": " + cubin.status().message();
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheDriversLibraryAssembles) {
  const Result<Cubin> cubin = assemble_while("");
  BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
  BOOST_TEST((cubin->bytes == handmade_cubin(90)));
  BOOST_TEST((cubin->tool == cache::Tool{"libcuda", "13.2"}));
}

BOOST_AUTO_TEST_CASE(MachineCodeForSm90IsForThatArchitectureAlone) {
  for (const char* target : {"sm_90", "sm_90a"}) {
    BOOST_TEST(assemble(small_ptx(target), "sm_90", Assembler::libcuda).ok());
    BOOST_TEST(ask_library("fake_libcuda_target") == 0x10000 + 90);  // CU_TARGET_COMPUTE_90A
  }
}

// 130 registers leave room for 15 resident work-groups of 32, 128 for 16; of 512 there is room for one with more than
// 64, for two with 64.
BOOST_AUTO_TEST_CASE(RegistersAreGivenUpForOneMoreResidentWorkGroup) {
  struct Case {
    const char* registers;
    const char* work_items;
    int bound;
  };
  for (const Case& c : {Case{"130", "32", 128}, Case{"78", "512", 64}, Case{"79", "512", 79}}) {
    std::string ptx = small_ptx();
    ptx.replace(ptx.find("32, 1, 1"), 2, c.work_items);
    const Result<Cubin> cubin = assemble_while(c.registers, "sm_90", ptx);
    BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
    BOOST_TEST(cubin->bytes.back() == c.bound, c.registers);
  }
}

BOOST_AUTO_TEST_CASE(ButNothingIsSpilledForItNorGivenUpForNothing) {
  for (const char* told : {"130 spills", "130 local memory decides"}) {
    const Result<Cubin> cubin = assemble_while(told);
    BOOST_REQUIRE_MESSAGE(cubin.ok(), cubin.status().message());
    BOOST_TEST(cubin->bytes.back() == 130, told);
  }
}

BOOST_AUTO_TEST_CASE(WithoutADeviceTheDriverIsNoTool) {
  BOOST_TEST(failure("", "sm_80") == "no device: NVIDIA's driver has no device of architecture sm_80");
  BOOST_TEST(failure("no driver") == "no device: cuInit: CUDA_ERROR_NO_DEVICE");
  BOOST_TEST(failure("no context") == "no device: cuDevicePrimaryCtxRetain: CUDA error 999");
  BOOST_TEST(failure("no link") == "no device: cuLinkCreate: CUDA error 999");
}

BOOST_AUTO_TEST_CASE(ARefusalIsToldWithTheFirstLineOfTheLog) {
  BOOST_TEST(failure("refused") == "build failed: cuLinkAddData: CUDA_ERROR_INVALID_PTX: line 4; error: what");
  BOOST_TEST(failure("no completion") == "build failed: cuLinkComplete: CUDA error 999");
  const std::string full = failure("long log");
  BOOST_TEST(full.size() > 4000U);
  BOOST_TEST(full.size() < 4200U);
}

BOOST_AUTO_TEST_CASE(TheDriversWordForSuccessIsNotEnough) {
  const std::string wanted = " where one for sm_90 was asked for";
  BOOST_TEST(failure("nothing") == "build failed: libcuda 13.2 made no cubin" + wanted);
  BOOST_TEST(failure("other") == "build failed: libcuda 13.2 made a cubin for sm_80" + wanted);
}

// No other tool is asked for a program that the driver refuses: the driver would have to load it.
BOOST_AUTO_TEST_CASE(ARefusalIsFinal) {
  setenv("FAKE_LIBCUDA", "refused", 1);
  BOOST_TEST(outcome(assemble(small_ptx(), "sm_90")) == "build failed");
}

}  // namespace clbake::builder::test
