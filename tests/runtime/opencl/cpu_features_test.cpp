// The CPU's features, compared with what Linux says of it in /proc/cpuinfo.
#include "opencl/cpu_features.hpp"

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace clbake {
namespace {

std::set<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

// Flags of the first core; empty where Linux does not tell.
std::set<std::string> linux_says() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) == 0 || line.rfind("Features", 0) == 0) return words_of(line.substr(line.find(':') + 1));
  }
  return {};
}

// Linux's names of what has another one there.
std::string name_in_linux(const std::string& feature) {
  static const std::map<std::string, std::string> others = {{"sse3", "pni"},
                                                            {"sse4.1", "sse4_1"},
                                                            {"sse4.2", "sse4_2"},
                                                            {"bmi", "bmi1"},
                                                            {"lzcnt", "abm"},
                                                            {"avx512vbmi2", "avx512_vbmi2"},
                                                            {"avx512vnni", "avx512_vnni"},
                                                            {"avx512bitalg", "avx512_bitalg"},
                                                            {"avx512vpopcntdq", "avx512_vpopcntdq"},
                                                            {"avx512fp16", "avx512_fp16"},
                                                            {"avx512bf16", "avx512_bf16"},
                                                            {"avxvnni", "avx_vnni"}};
  const auto found = others.find(feature);
  return found == others.end() ? feature : found->second;
}

}  // namespace

BOOST_AUTO_TEST_CASE(LinuxSaysTheSameOfTheCpu) {
  const std::set<std::string> all = linux_says();
  if (all.empty()) return;
  // Not listed by every version of Linux.
  const std::set<std::string> unlisted = {"avxneconvert", "avx10", "apxf"};
  for (const std::string& feature : words_of(cpu_features("")))
    BOOST_TEST((all.count(name_in_linux(feature)) == 1 || unlisted.count(feature) == 1), feature);
  const std::set<std::string> here = words_of(cpu_features(""));
  for (const char* feature : {"sse3", "sse4.2", "avx", "avx2", "fma", "bmi2", "avx512f", "avx512bw", "avx512bf16",
                              "avx512vnni", "gfni", "asimdhp", "asimddp", "atomics", "sve", "sve2", "i8mm", "bf16"}) {
    BOOST_TEST((here.count(feature) == 1) == (all.count(name_in_linux(feature)) == 1), feature);
  }
}

BOOST_AUTO_TEST_CASE(ACompilerForAnOlderCpuUsesLess) {
  std::size_t before = 0;
  for (const char* cpu : {"x86-64", "core2", "penryn", "nehalem", "sandybridge", "ivybridge", "haswell",
                          "skylake-avx512", "some-later-cpu"}) {
    const std::size_t size = cpu_features(cpu).size();
    BOOST_TEST(size >= before, cpu);
    before = size;
  }
#if defined(__x86_64__)
  BOOST_TEST(cpu_features("x86-64") == "");
#endif
}

}  // namespace clbake
