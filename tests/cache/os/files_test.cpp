#include <clbake/os/appended_file.hpp>
#include <clbake/os/guest_files.hpp>
#include <clbake/os/listing.hpp>
#include <clbake/os/program.hpp>

#include "os/room.hpp"

namespace clbake::os::test {
namespace {

using Names = std::vector<std::string>;

const char* const kUnusual = "\xC3\xBC\xE2\x82\xAC \xF0\x9F\x9A\x80";  // u with dots, euro, blank, rocket

BOOST_AUTO_TEST_CASE(PathsAreNormalAndSharesKeepTheirName) {
  const std::string slash = kHasShares ? "/" : "";
  BOOST_TEST(normal("a//b/./c/../d") == "a/b/d");
  BOOST_TEST(normal("//server/share/a/../b") == slash + "/server/share/b");
  BOOST_TEST(joined_path("//server/share", "sub/./x") == slash + "/server/share/sub/x");
  BOOST_TEST(joined_path("folder", "../x") == "x");
}

BOOST_AUTO_TEST_CASE(AFileIsWrittenMappedAndReadUnderAnyName) {
  const Room room;
  for (const std::string& name : {std::string("plain"), std::string(kUnusual)}) {
    const std::string bytes("a\r\n\x1A\0b", 6);
    BOOST_TEST(write_file(room.path(name), bytes).message() == "");
    const Result<Mapping> mapping = map_file(room.path(name));
    BOOST_REQUIRE_MESSAGE(mapping.ok(), mapping.status().message());
    BOOST_TEST(text_of(*mapping) == bytes);
    BOOST_TEST(text_of(room.path(name)) == bytes);
  }
  BOOST_TEST((room.names() == Names{"plain", kUnusual}));
}

BOOST_AUTO_TEST_CASE(APathMayBeLong) {
  const Room room;
  std::string path = room.path("");
  for (int i = 0; i < 6; ++i) {
    path += std::string(90, static_cast<char>('a' + i)) + "/";
    BOOST_REQUIRE(std::filesystem::create_directory(native(path.substr(0, path.size() - 1))));
  }
  path += kUnusual;
  BOOST_TEST(write_file(path, "deep").message() == "");
  BOOST_TEST(write_file(path, "deeper").message() == "");
  BOOST_TEST(text_of(path) == "deeper");
  BOOST_TEST(map_file(path).ok());
  BOOST_TEST(remove_file(path));
  BOOST_TEST((map_file(path).status().code() == Code::not_found));
  const std::string name(300, 'd');
  BOOST_TEST(absolute_path(name) == working_directory() + "/" + name);
}

BOOST_AUTO_TEST_CASE(AnEmptyFileHasNoBytes) {
  const Room room;
  BOOST_REQUIRE(write_file(room.path("empty"), {}).ok());
  const Result<Mapping> mapping = map_file(room.path("empty"));
  BOOST_REQUIRE(mapping.ok());
  BOOST_TEST(mapping->size == 0U);
  BOOST_TEST(text_of(room.path("empty")) == "");
}

BOOST_AUTO_TEST_CASE(AMappingKeepsItsBytesWhenTheFileIsReplacedAndRemoved) {
  const Room room;
  const std::string path = room.path("file");
  std::vector<Mapping> mappings;
  for (int i = 0; i < 5; ++i) {
    BOOST_TEST(write_file(path, std::to_string(i)).message() == "");
    const Result<Mapping> mapping = map_file(path);
    BOOST_REQUIRE_MESSAGE(mapping.ok(), mapping.status().message());
    mappings.push_back(*mapping);
  }
  BOOST_TEST(remove_file(path));
  BOOST_TEST((map_file(path).status().code() == Code::not_found));
  for (std::size_t i = 0; i < mappings.size(); ++i) BOOST_TEST(text_of(mappings[i]) == std::to_string(i));
}

BOOST_AUTO_TEST_CASE(WhatKilledWritersLeftGoesAfterAnHour) {
  const Room room;
  for (const char* name : {"file.tmp.1.2", "file.tmp.3.4", "other.tmp.1.2", "file.tmp.mine"}) {
    BOOST_REQUIRE(write_file(room.path(name), "x").ok());
  }
  for (const char* name : {"file.tmp.1.2", "other.tmp.1.2", "file.tmp.mine"}) {
    make_old(room.path(name), std::chrono::hours(2));
  }
  BOOST_REQUIRE(write_file(room.path("file"), "new").ok());
  BOOST_TEST((room.names() == Names{"file", "file.tmp.3.4", "file.tmp.mine", "other.tmp.1.2"}));
}

BOOST_AUTO_TEST_CASE(ADirectoryIsNoFile) {
  const Room room;
  const std::string path = room.path("directory");
  std::filesystem::create_directory(native(path));
  for (const Status& status :
       {map_file(path).status(), read_file(path, 10).status(), write_file(path, "x"), write_private_file(path, "x")}) {
    BOOST_TEST((status.code() == Code::io));
    BOOST_TEST(status.message().rfind(path + ": ", 0) == 0U);
  }
  BOOST_TEST(!remove_file(path));
  BOOST_TEST((room.names() == Names{"directory"}));
}

BOOST_AUTO_TEST_CASE(WhatIsNotThereIsNotFound) {
  const Room room;
  for (const std::string& path : {room.path("none"), room.path("none/file"), std::string()}) {
    BOOST_TEST((map_file(path).status().code() == Code::not_found));
    BOOST_TEST((read_file(path, 10).status().code() == Code::not_found));
    BOOST_TEST((read_file_or_pipe(path, 10).status().code() == Code::not_found));
    BOOST_TEST(!remove_file(path));
  }
  BOOST_TEST(write_file(room.path("none/file"), "x").message() ==
             room.path("none/file") + ": the directory does not exist");
}

BOOST_AUTO_TEST_CASE(AFileMayNotBeTooLarge) {
  const Room room;
  BOOST_REQUIRE(write_file(room.path("file"), "12345").ok());
  BOOST_TEST(read_file(room.path("file"), 5).ok());
  const Status status = read_file(room.path("file"), 4).status();
  BOOST_TEST((status.code() == Code::malformed));
  BOOST_TEST(status.message() == room.path("file") + ": it has more than 4 bytes");
}

BOOST_AUTO_TEST_CASE(ANewPrivateFileReplacesNone) {
  const Room room;
  BOOST_TEST(create_file(room.path("key"), "first", Access::user).message() == "");
  BOOST_TEST((create_file(room.path("key"), "second", Access::everyone).code() == Code::invalid_argument));
  BOOST_TEST(text_of(room.path("key")) == "first");
  BOOST_TEST(write_private_file(room.path("key"), "third").message() == "");
  BOOST_TEST(text_of(room.path("key")) == "third");
}

BOOST_AUTO_TEST_CASE(ASecretIsReadWhereOthersCannot) {
  const Room room;
  BOOST_REQUIRE(create_file(room.path("key"), "secret", Access::user).ok());
  std::string text;
  BOOST_TEST(read_secret(room.path("key"), text, 100).message() == "");
  BOOST_TEST(text == "secret");
  BOOST_TEST(read_secret(room.path("key"), text, 3).message() == "");
  BOOST_TEST(text == "sec");
  BOOST_TEST((read_secret(room.path("none"), text, 3).code() == Code::not_found));
}

BOOST_AUTO_TEST_CASE(LinesAreAppended) {
  const Room room;
  for (const char* line : {"one\n", "two\n"}) {
    const Result<AppendedFile> file = AppendedFile::open(room.path("log"));
    BOOST_REQUIRE_MESSAGE(file.ok(), file.status().message());
    BOOST_TEST(file->append(line).message() == "");
    BOOST_TEST(text_of(room.path("log")).find(line) != std::string::npos);
  }
  const Result<AppendedFile> file = AppendedFile::open(room.path("log"));
  BOOST_REQUIRE(file.ok());
  BOOST_TEST(file->truncate(4).message() == "");
  BOOST_TEST(file->append("three\n").message() == "");
  BOOST_TEST(text_of(room.path("log")) == "one\nthree\n");
  BOOST_TEST((AppendedFile::open(room.path("none/log")).status().code() == Code::io));
}

BOOST_AUTO_TEST_CASE(TemporaryDirectoriesDiffer) {
  const Room room;
  const Result<std::string> one = make_temporary_directory(room.path(""));
  const Result<std::string> other = make_temporary_directory(room.path(""));
  BOOST_REQUIRE(one.ok());
  BOOST_REQUIRE(other.ok());
  BOOST_TEST(*one != *other);
  BOOST_REQUIRE(write_file(*one + "/file", "x").ok());
  remove_directory(*one);
  BOOST_TEST(room.names().size() == 1U);
  BOOST_TEST((make_temporary_directory(room.path("none")).status().code() == Code::io));
}

// Other programs' functions list the working directory in the place of one with a long path.
BOOST_AUTO_TEST_CASE(ADirectoryOfALongPathIsListedAndRemoved) {
  const Room room;
  std::string path = room.path("l\xC3\xA4ng");
  for (int i = 0; i < 8; ++i) {
    make_guest_directory(path);
    path += "/" + std::string(50, 'd');
  }
  make_guest_directory(path);
  BOOST_TEST(list_directory(path)->empty());
  BOOST_REQUIRE(write_file(path + "/file", "text").ok());
  const Result<std::vector<Item>> items = list_directory(path);
  BOOST_REQUIRE_MESSAGE(items.ok(), items.status().message());
  BOOST_REQUIRE(items->size() == 1U);
  BOOST_TEST(items->front().path == path + "/file");
  BOOST_TEST(items->front().bytes == 4U);
  BOOST_TEST(items->front().is_file);
  BOOST_TEST(list_directory(room.path("l\xC3\xA4ng"))->front().is_directory);
  BOOST_TEST((list_directory(path + "/missing").status().code() == Code::not_found));
  remove_directory(room.path("l\xC3\xA4ng"));
  BOOST_TEST(room.names().empty());
}

}  // namespace
}  // namespace clbake::os::test
