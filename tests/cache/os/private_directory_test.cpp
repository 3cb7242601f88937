#include <clbake/os/directories.hpp>
#include <clbake/os/private_directory.hpp>

#include "os/room.hpp"

namespace clbake::os::test {
namespace {

struct Scene {
  Room room;
  std::string path = room.path("a/b/private");
  PrivateDirectory directory = opened(path);

  static PrivateDirectory opened(const std::string& path) {
    Result<PrivateDirectory> directory = PrivateDirectory::open(path, true);
    BOOST_REQUIRE_MESSAGE(directory.ok(), directory.status().message());
    return std::move(*directory);
  }
};

std::string read(const PrivateDirectory& directory, const std::string& name) {
  const Result<Mapping> mapping = directory.map(name);
  return mapping ? text_of(*mapping) : mapping.status().message();
}

BOOST_AUTO_TEST_CASE(ItsFilesAreWrittenFoundAndRemoved) {
  const Scene scene;
  BOOST_TEST(scene.directory.write("one", "first").message() == "");
  BOOST_TEST(scene.directory.write("one", "second").message() == "");
  BOOST_TEST(scene.directory.write("two", "").message() == "");
  BOOST_TEST(read(scene.directory, "one") == "second");
  BOOST_TEST(text_of(scene.path + "/one") == "second");
  BOOST_REQUIRE(scene.directory.find("one").has_value());
  BOOST_TEST(scene.directory.find("one")->bytes == 6U);
  BOOST_TEST(scene.directory.find("two")->bytes == 0U);
  const Result<std::vector<std::string>> names = scene.directory.names();
  BOOST_REQUIRE(names.ok());
  BOOST_TEST(std::count(names->begin(), names->end(), "one") == 1);
  scene.directory.remove("one");
  scene.directory.remove("none");
  BOOST_TEST(!scene.directory.find("one").has_value());
  BOOST_TEST((scene.directory.map("one").status().code() == Code::not_found));
}

BOOST_AUTO_TEST_CASE(AUseIsNoted) {
  const Scene scene;
  BOOST_REQUIRE(scene.directory.write("old", "x").ok());
  BOOST_REQUIRE(scene.directory.write("new", "x").ok());
  make_old(scene.path + "/old", std::chrono::hours(2));
  BOOST_TEST(scene.directory.find("old")->unused_seconds >= 7199);
  BOOST_TEST(scene.directory.find("new")->unused_seconds < 3600);
  BOOST_TEST(scene.directory.find("old")->used_ns < scene.directory.find("new")->used_ns);
  scene.directory.touch("old");
  BOOST_TEST(scene.directory.find("old")->unused_seconds < 3600);
}

BOOST_AUTO_TEST_CASE(AMappedFileIsReplacedAndRemoved) {
  const Scene scene;
  BOOST_REQUIRE(scene.directory.write("file", "first").ok());
  const Result<Mapping> first = scene.directory.map("file");
  BOOST_TEST(scene.directory.write("file", "second").message() == "");
  const Result<Mapping> second = scene.directory.map("file");
  scene.directory.remove("file");
  BOOST_TEST(!scene.directory.find("file").has_value());
  BOOST_REQUIRE((first.ok() && second.ok()));
  BOOST_TEST(text_of(*first) == "first");
  BOOST_TEST(text_of(*second) == "second");
}

BOOST_AUTO_TEST_CASE(ADirectoryInItIsNoFileOfIt) {
  const Scene scene;
  std::filesystem::create_directory(native(scene.path + "/inner"));
  BOOST_TEST(!scene.directory.find("inner").has_value());
  BOOST_TEST(!scene.directory.map("inner").ok());
}

BOOST_AUTO_TEST_CASE(WhatIsNoDirectoryIsRefused) {
  const Room room;
  BOOST_TEST((PrivateDirectory::open(room.path("none"), false).status().code() == Code::not_found));
  BOOST_REQUIRE(write_file(room.path("file"), "x").ok());
  BOOST_TEST((PrivateDirectory::open(room.path("file"), true).status().code() == Code::io));
  BOOST_TEST(!PrivateDirectory::open(room.path("file/inner"), true).ok());
}

BOOST_AUTO_TEST_CASE(ALinkIsRefused) {
  const Scene scene;
  std::error_code error;
  std::filesystem::create_directory_symlink(native(scene.path), native(scene.room.path("link")), error);
  if (error) return;  // Windows lets only some users make links
  for (const char* end : {"", "/", "//", "/.", "/./", "/.//./."}) {
    const std::string expected = scene.room.path("link") + ": is a symbolic link: not used as an overlay";
    BOOST_TEST(PrivateDirectory::open(scene.room.path("link") + end, false).status().message() == expected, end);
    BOOST_TEST(PrivateDirectory::open(scene.room.path("link") + end, true).status().message() == expected, end);
    BOOST_TEST(PrivateDirectory::open_shared(scene.room.path("link") + end, "").status().message() == expected, end);
    BOOST_TEST(PrivateDirectory::open(scene.path + end, true).status().message() == "", end);
  }
}

BOOST_AUTO_TEST_CASE(NamesThatLeadElsewhereAreNotPlain) {
  for (const char* name : {"a", "a.b", "my app", "\xC3\xBC"}) BOOST_TEST(is_plain_name(name), name);
  for (const char* name : {"", ".", "..", "a/b", "/"}) BOOST_TEST(!is_plain_name(name), name);
  BOOST_TEST(!is_plain_name(std::string("a\0b", 3)));
  for (const char* path : {"", "a", "a/b", "./a"}) BOOST_TEST(!is_absolute(path), path);
}

}  // namespace
}  // namespace clbake::os::test
