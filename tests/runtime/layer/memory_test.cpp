// PoCL's files of baked programs: which programs the layer sends to memory.
#include "layer/layer_scene.hpp"

#include <sys/statfs.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>

using namespace clbake;
using namespace clbake::test;

namespace {

namespace fs = std::filesystem;

bool is_in_memory(const std::string& path) {
  constexpr auto kTmpfs = 0x01021994;
  struct statfs info = {};
  return ::statfs(path.c_str(), &info) == 0 && info.f_type == kTmpfs;
}

// PoCL's files are sent to memory where there is some, and where they are not in memory anyway.
boost::test_tools::assertion_result can_move(boost::unit_test::test_unit_id) {
  const tests::TemporaryDirectory directory;
  return is_in_memory("/dev/shm") && !is_in_memory(directory.path);
}

// A program as clbake leaves PoCL's, as far as its place.
cache::Bytes poclbin(const std::string& place) {
  const std::string text = std::string("poclbin\0", 8) + std::string(28, '\1') + place + std::string(40, 'A');
  return {text.begin(), text.end()};
}

// The program's bytes as the driver gets them from the layer.
std::string seen_by_driver(const cache::Bytes& program, const std::string& pocl_directory, const char* setting) {
  tests::TemporaryDirectory directory;
  cache::Contents contents = contents_of({text_of(kSource, "")}, {0});
  contents.entries[0].program = program;
  write_contents(directory.file("app.clbake"), contents);
  const LayerScene scene({{"CLBAKE_BUNDLE", directory.file("app.clbake")}, {"CLBAKE_POCL_MEMORY", setting}});
  std::string seen;
  fake::set_witness([&](const std::string& bytes) {
    if (bytes != kSource) seen = bytes;
  });
  setenv("POCL_CACHE_DIR", pocl_directory.c_str(), 1);
  scene.cl().clReleaseProgram(scene.build(kSource, "", {scene.device}));  // the fake driver rejects the program
  unsetenv("POCL_CACHE_DIR");
  return seen;
}

std::string text_of_bytes(const cache::Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

BOOST_AUTO_TEST_CASE(AProgramOfPoclsIsPlacedInMemory, *boost::unit_test::precondition(can_move)) {
  const tests::TemporaryDirectory directory;
  const cache::Bytes program = poclbin("ZB/");
  const std::string seen = seen_by_driver(program, directory.path, "on");
  BOOST_REQUIRE(seen.size() == program.size());
  BOOST_TEST(seen.substr(36, 3) == "YB/");
  BOOST_TEST(fs::read_symlink(directory.file("YB")) == "/dev/shm/clbake-" + std::to_string(::geteuid()) + "/YB");
  cache::Bytes other = program;
  other.back() ^= 1U;
  BOOST_TEST(seen_by_driver(other, directory.path, "on").substr(39, 16) != seen.substr(39, 16));
}

BOOST_AUTO_TEST_CASE(OtherProgramsStayAsTheyAre, *boost::unit_test::precondition(can_move)) {
  const tests::TemporaryDirectory directory;
  const auto stays = [&](const cache::Bytes& program, const std::string& path, const char* setting) {
    return seen_by_driver(program, path, setting) == text_of_bytes(program);
  };
  BOOST_TEST(stays(poclbin("ZB/"), directory.path, "off"));
  BOOST_TEST(stays(poclbin("ZB/"), directory.file("missing"), "on"));
  BOOST_TEST(stays(poclbin("CB/"), directory.path, "on"));  // PoCL's own, which is not clbake's to move
  BOOST_TEST(stays(poclbin("Z/B"), directory.path, "on"));
  BOOST_TEST(stays(fake::binary_for(0, "-DA"), directory.path, "on"));
  fs::create_directory(directory.file("YC"));  // somebody's own
  BOOST_TEST(stays(poclbin("ZC/"), directory.path, "on"));
}
