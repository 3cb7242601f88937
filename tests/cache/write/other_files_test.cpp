// Pipes, links and devices in the place of a bundle: POSIX.
#include <clbake/cache/reader.hpp>
#include <clbake/cache/writer.hpp>

#include "forge.hpp"
#include "system/temporary_directory.hpp"

#include <sys/stat.h>
#include <boost/test/unit_test.hpp>
#include <filesystem>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;
using clbake::tests::TemporaryDirectory;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_CASE(AnotherKindOfFileInTheWayStaysAsItIs) {
  const TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe"), link = directory.file("link");
  BOOST_REQUIRE_EQUAL(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  for (const std::string& path : {pipe, link}) {
    const Status status = write_file(path, view_of(small_bundle()));
    BOOST_TEST(outcome(status) == "input/output");
    BOOST_TEST(status.message() == path + ": exists and is not a regular file; it stays as it is");
  }
  BOOST_TEST(fs::is_fifo(pipe));
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(directory.files() == 2U);
}

BOOST_AUTO_TEST_CASE(ADeviceIsNoBundle) { BOOST_TEST(outcome(Bundle::open("/dev/null")) == "input/output"); }
