#include <clbake/os/lock.hpp>

#include "os/room.hpp"

#include <thread>

namespace clbake::os::test {
namespace {

LockFile opened(const std::string& path) {
  Result<LockFile> file = LockFile::open(path);
  BOOST_REQUIRE_MESSAGE(file.ok(), file.status().message());
  return std::move(*file);
}

bool takes(const LockFile& file, std::uint32_t byte) {
  const Result<bool> taken = file.try_lock(byte);
  BOOST_REQUIRE_MESSAGE(taken.ok(), taken.status().message());
  return *taken;
}

BOOST_AUTO_TEST_CASE(AByteBelongsToOneOpenFile) {
  const Room room;
  std::optional<LockFile> one = opened(room.path("lock"));
  const LockFile other = opened(room.path("lock"));
  BOOST_TEST(takes(*one, 0));
  BOOST_TEST(!takes(other, 0));
  BOOST_TEST(takes(other, 1));
  BOOST_TEST(!takes(*one, 1));
  one.reset();
  BOOST_TEST(takes(other, 0));
}

BOOST_AUTO_TEST_CASE(WhoWaitsGetsTheByte) {
  const Room room;
  std::optional<LockFile> one = opened(room.path("lock"));
  BOOST_TEST(takes(*one, 0));
  Status waited(Code::io, "did not run");
  std::thread thread([&] {
    const Result<LockFile> other = LockFile::open(room.path("lock"));
    if (other) waited = other->lock(0);
  });
  one.reset();
  thread.join();
  BOOST_TEST(waited.message() == "");
}

BOOST_AUTO_TEST_CASE(ADirectoryIsWorkedInByOne) {
  const Room room;
  const std::string path = room.path("work");
  Result<std::optional<DirectoryLock>> one = DirectoryLock::take(path);
  BOOST_REQUIRE_MESSAGE((one && *one), one.status().message());
  const Result<std::optional<DirectoryLock>> other = DirectoryLock::take(path);
  BOOST_REQUIRE_MESSAGE(other.ok(), other.status().message());
  BOOST_TEST(!other->has_value());
  (*one)->remove_if_empty();
  BOOST_TEST(room.names().empty());
}

BOOST_AUTO_TEST_CASE(ADirectoryWithFilesStays) {
  const Room room;
  {
    Result<std::optional<DirectoryLock>> lock = DirectoryLock::take(room.path("work"));
    BOOST_REQUIRE((lock && *lock));
    BOOST_REQUIRE(write_file(room.path("work/file"), "x").ok());
    (*lock)->remove_if_empty();
  }
  const Result<std::optional<DirectoryLock>> again = DirectoryLock::take(room.path("work"));
  BOOST_TEST((again && *again));
  BOOST_TEST(text_of(room.path("work/file")) == "x");
  BOOST_TEST((DirectoryLock::take(room.path("none/work")).status().code() == Code::io));
}

}  // namespace
}  // namespace clbake::os::test
