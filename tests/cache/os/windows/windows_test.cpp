#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>
#include <clbake/os/libraries.hpp>
#include <clbake/os/private_directory.hpp>

#include "os/room.hpp"
#include "windows/system.hpp"

#include <aclapi.h>
#include <sddl.h>
#include <atomic>
#include <thread>

namespace clbake::os::test {
namespace {

// Holds a file as a scanner for viruses does: nobody else may open or rename it.
class Scanner {
 public:
  explicit Scanner(const std::string& path)
      : file_(::CreateFileW(native(path).c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr)) {
    BOOST_REQUIRE(file_ != INVALID_HANDLE_VALUE);
  }
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;
  ~Scanner() { ::CloseHandle(file_); }

 private:
  HANDLE file_;
};

// Gives a file or directory the rights of a text.
void set_rights(const std::string& path, const wchar_t* rights) {
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  BOOST_REQUIRE(::ConvertStringSecurityDescriptorToSecurityDescriptorW(rights, SDDL_REVISION_1, &descriptor, nullptr));
  BOOST_REQUIRE(::SetFileSecurityW(native(path).c_str(), DACL_SECURITY_INFORMATION, descriptor));
  ::LocalFree(descriptor);
}

BOOST_AUTO_TEST_CASE(AFileThatIsBrieflyHeldIsReadAndReplaced) {
  const Room room;
  const std::string path = room.path("file");
  BOOST_REQUIRE(write_file(path, "old").ok());
  for (const bool is_read : {true, false}) {
    std::optional<Scanner> scanner(std::in_place, path);
    std::thread ends([&] {
      ::Sleep(200);
      scanner.reset();
    });
    if (is_read) {
      BOOST_TEST(text_of(path) == "old");
    } else {
      BOOST_TEST(write_file(path, "new").message() == "");
    }
    ends.join();
  }
  BOOST_TEST(text_of(path) == "new");
  BOOST_TEST((room.names() == std::vector<std::string>{"file"}));
}

BOOST_AUTO_TEST_CASE(AFileThatStaysHeldIsLeftAsItIs) {
  const Room room;
  const std::string path = room.path("file");
  BOOST_REQUIRE(write_file(path, "old").ok());
  {
    const Scanner scanner(path);
    BOOST_TEST((write_file(path, "new").code() == Code::io));
    BOOST_TEST((map_file(path).status().code() == Code::io));
    BOOST_TEST(!remove_file(path));
  }
  BOOST_TEST(text_of(path) == "old");
  BOOST_TEST((room.names() == std::vector<std::string>{"file"}));
}

// A writer was killed between its two renames: the old file is there, under another name.
BOOST_AUTO_TEST_CASE(AFileThatWasMovedAsideIsPutBack) {
  const Room room;
  const std::string path = room.path("file");
  BOOST_REQUIRE(write_file(room.path("file.old.1234.0"), "old").ok());
  BOOST_TEST(text_of(path) == "old");
  BOOST_TEST((room.names() == std::vector<std::string>{"file"}));
}

// A writer was killed before it removed the file that it had replaced.
BOOST_AUTO_TEST_CASE(AFileThatWasReplacedGoesWithTheNextWriterOrRemoval) {
  const Room room;
  const std::string path = room.path("file"), aside = room.path("file.old.1234.0");
  for (const bool is_removed : {false, true}) {
    BOOST_REQUIRE(write_file(path, "new").ok());
    BOOST_REQUIRE(create_file(aside, "old", Access::everyone).ok());
    if (is_removed) {
      BOOST_TEST(remove_file(path));
    } else {
      BOOST_TEST(write_file(path, "newer").message() == "");
    }
    BOOST_TEST((room.names() == std::vector<std::string>(is_removed ? 0 : 1, "file")));
  }
  BOOST_TEST((map_file(path).status().code() == Code::not_found));
}

// Processes' numbers come again, so a killed writer's files may have the names that the next one would take.
BOOST_AUTO_TEST_CASE(NamesThatAKilledWriterTookArePassedOver) {
  const Room room;
  const std::string path = room.path("file");
  const std::string taken = path + ".tmp." + std::to_string(::GetCurrentProcessId()) + ".";
  for (int i = 0; i < 100; ++i) BOOST_REQUIRE(create_file(taken + std::to_string(i), "taken", Access::everyone).ok());
  BOOST_TEST(write_file(path, "new").message() == "");
  BOOST_TEST(write_private_file(path, "newer").message() == "");
  BOOST_TEST(text_of(path) == "newer");
  BOOST_TEST(remove_file(path));
  for (int i = 0; i < 100; ++i) BOOST_TEST(text_of(taken + std::to_string(i)) == "taken");
}

BOOST_AUTO_TEST_CASE(WhatOthersCanWriteIsRefused) {
  const Room room;
  const std::string path = room.path("directory");
  {
    const Result<PrivateDirectory> directory = PrivateDirectory::open(path, true);
    BOOST_REQUIRE_MESSAGE(directory.ok(), directory.status().message());
    BOOST_REQUIRE(directory->write("file", "x").ok());
    set_rights(path + "/file", L"D:P(A;;FA;;;WD)");
    BOOST_TEST(!directory->find("file").has_value());
  }
  set_rights(path, L"D:P(A;OICI;FA;;;WD)");
  const Status status = PrivateDirectory::open(path, false).status();
  BOOST_TEST(status.message() == path + ": users other than its owner can write to it: not used as an overlay");
}

BOOST_AUTO_TEST_CASE(ASecretThatOthersCanReadIsRefused) {
  const Room room;
  BOOST_REQUIRE(create_file(room.path("key"), "secret", Access::user).ok());
  set_rights(room.path("key"), L"D:P(A;;FR;;;WD)");
  std::string text;
  BOOST_TEST((read_secret(room.path("key"), text, 100).code() == Code::invalid_argument));
  BOOST_TEST(text == "");
}

BOOST_AUTO_TEST_CASE(APathHasToBeUtf8) {
  const Room room;
  for (const std::string& name : {std::string("\xFF\xFE"), std::string("a\0b", 3)}) {
    const std::string path = room.path(name);
    BOOST_TEST((write_file(path, "x").code() == Code::invalid_argument));
    BOOST_TEST((map_file(path).status().code() == Code::invalid_argument));
    BOOST_TEST((PrivateDirectory::open(path, true).status().code() == Code::invalid_argument));
  }
  BOOST_TEST(room.names().empty());
}

BOOST_AUTO_TEST_CASE(HalfASurrogatePairIsNoPartOfAPath) {
  for (const std::wstring half : {L"\xD83D", L"\xDC00", L"\xDC00\xD83D"}) {
    const std::string path = windows::exact(L"a/" + half + L"z");
    const Status status = map_file(path).status();
    BOOST_TEST(status.message() == path + ": is not UTF-8");
    BOOST_TEST((status.code() == Code::invalid_argument));
  }
  BOOST_TEST(windows::exact(L"a\xD83D\xDC00z") == "a\xF0\x9F\x90\x80z");
}

BOOST_AUTO_TEST_CASE(NamesOfDevicesAreNoFiles) {
  for (const char* name : {"nul", "NUL.txt", "com1", "a:b", "a*", "a ", "a.", "a\\b"}) {
    BOOST_TEST(!is_plain_name(name), name);
  }
  for (const char* path : {"C:/a", "c:\\", "\\\\server\\share", "//server/share"}) BOOST_TEST(is_absolute(path), path);
  for (const char* path : {"C:", "C:a", "/a", "\\a"}) BOOST_TEST(!is_absolute(path), path);
  BOOST_TEST((write_file("NUL", "x").code() == Code::io));
}

BOOST_AUTO_TEST_CASE(APathFromTheRootHasTheDriveOfTheFolder) {
  for (const char* path : {"C:/a", "c:\\", "//server/share", "a/b", "a\\b"}) {
    const std::string in = is_absolute(path) ? path : std::string("D:/f/") + path;
    BOOST_TEST(path_in("D:/f/", path) == in);
  }
  BOOST_TEST(path_in("D:/f/", "") == "");
  BOOST_TEST(path_in("D:/f/", "/a/b") == "D:/a/b");
  BOOST_TEST(path_in("D:\\f\\", "\\a") == "D:\\a");
  BOOST_TEST(path_in("//server/share/f/", "/a") == "//server/share/a");
  BOOST_TEST(path_in("//server/share", "/a") == "//server/share/a");
  BOOST_TEST(path_in("", "/a") == "/a");
}

BOOST_AUTO_TEST_CASE(TheSystemsLibrariesAreFound) {
  const Result<LibraryHandle> library = open_library("kernel32.dll");
  BOOST_REQUIRE_MESSAGE(library.ok(), library.status().message());
  BOOST_TEST(symbol(*library, "CreateFileW") != nullptr);
  BOOST_TEST(symbol(*library, "no_such_function") == nullptr);
}

BOOST_AUTO_TEST_CASE(TheUsersDirectoryOfCachesIsTheLocalOne) {
  const Result<std::string> directory = user_cache_directory();
  BOOST_REQUIRE_MESSAGE(directory.ok(), directory.status().message());
  BOOST_TEST(*directory == variable("LOCALAPPDATA").value_or(""));
}

}  // namespace
}  // namespace clbake::os::test
