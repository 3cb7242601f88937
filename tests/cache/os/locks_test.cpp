#include <clbake/os/appended_file.hpp>
#include <clbake/os/guest_files.hpp>
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

BOOST_AUTO_TEST_CASE(AGuestsFileIsHeldAndGrows) {
  const Room room;
  const std::string path = room.path("file");
  {
    GuestFile file;
    BOOST_TEST(!file.is_open());
    BOOST_REQUIRE(file.create(path).ok());
    BOOST_TEST(file.append("one\n").message() == "");
    BOOST_TEST(file.append("two\n").message() == "");
    BOOST_TEST(is_held(path));
    BOOST_TEST((GuestFile().create(path).code() == Code::invalid_argument));
    BOOST_TEST(text_of(path) == "one\ntwo\n");
  }
  BOOST_TEST(!is_held(path));
}

BOOST_AUTO_TEST_CASE(AGuestsFileKeepsTheZerosAtItsEnd) {
  const Room room;
  make_guest_directory(room.path("data"));
  const std::string path = room.path("data/file"), zeros(100000, '\0');
  for (const std::string& text : {"text" + zeros, zeros, std::string("text")}) {
    BOOST_TEST(write_guest_file(path, text).message() == "");
    BOOST_TEST((text_of(path) == text));
  }
  BOOST_TEST(room_of_files(room.path("data")) > 0U);
  BOOST_TEST(room_of_files(room.path("missing")) == 0U);
  BOOST_TEST((write_guest_file(room.path("missing/file"), "text").code() == Code::io));
}

}  // namespace
}  // namespace clbake::os::test
