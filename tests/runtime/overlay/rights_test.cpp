// The overlay's directory and the rights of users: POSIX.
#include "overlay/place.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <functional>

namespace fs = std::filesystem;

namespace clbake::test {
namespace {

constexpr uid_t kNobody = 65534;

unsigned permissions(const std::string& path) {
  struct stat info = {};
  BOOST_REQUIRE_EQUAL(::stat(path.c_str(), &info), 0);
  return info.st_mode & 07777U;
}

// Runs `work` as a user without rights, if this one is root.
void without_rights(const std::function<void()>& work) {
  const bool root = ::geteuid() == 0;
  if (root) BOOST_REQUIRE_EQUAL(::seteuid(kNobody), 0);
  work();
  if (root) BOOST_REQUIRE_EQUAL(::seteuid(0), 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(DirectoryAndFilesArePrivate) {
  const Place place;
  OverlayOptions options = place.options();
  options.directory = place.path("a/b/c/");
  const mode_t mask = ::umask(0);
  const Overlay overlay = Place::required(Overlay::open(options));
  store(overlay, 1);
  ::umask(mask);
  BOOST_TEST(permissions(place.path("a")) == 0700U);
  BOOST_TEST(permissions(place.path("a/b/c")) == 0700U);
  BOOST_TEST(permissions(place.path("a/b/c/" + sample_key(1).hash + ".clbake")) == 0600U);
}

BOOST_AUTO_TEST_CASE(DirectoriesThatOthersCanWriteToAreRefused) {
  const Place place;
  fs::create_directory(place.path());
  for (const mode_t mode : {0777U, 01777U, 0770U, 0720U, 0702U}) {
    BOOST_REQUIRE_EQUAL(::chmod(place.path().c_str(), mode), 0);
    check_refused(place.options(), "input/output", "users other than its owner can write");
    check_refused(place.options(OverlayMode::read_only), "input/output", "users other than its owner can write");
  }
  BOOST_REQUIRE_EQUAL(::chmod(place.path().c_str(), 0755), 0);
  store(place.open(), 1);
}

BOOST_AUTO_TEST_CASE(DirectoriesOfOtherUsersAreRefused) {
  const Place place;
  OverlayOptions options = place.options(OverlayMode::read_only);
  options.directory = "/";
  if (::geteuid() == 0) {
    fs::create_directory(place.path());
    BOOST_REQUIRE_EQUAL(::chown(place.path().c_str(), kNobody, kNobody), 0);
    BOOST_REQUIRE_EQUAL(::chmod(place.path().c_str(), 0700), 0);
    options = place.options();
  }
  check_refused(options, "input/output", "belongs to user");
}

BOOST_AUTO_TEST_CASE(SymbolicLinksAndFilesAreRefused) {
  const Place place;
  fs::create_directory(place.path("elsewhere"));
  BOOST_REQUIRE_EQUAL(::chmod(place.path("elsewhere").c_str(), 0700), 0);
  fs::create_symlink("elsewhere", place.path());
  check_refused(place.options(), "input/output", "symbolic link");
  for (const char* end : {"//", "/.", "/./"}) {
    OverlayOptions longer = place.options();
    longer.directory += end;
    check_refused(longer, "input/output", "symbolic link");
  }
  fs::remove(place.path());
  fs::create_symlink("nowhere", place.path());
  check_refused(place.options(), "input/output", "symbolic link");
  fs::remove(place.path());
  write(place.path(), "a file");
  check_refused(place.options(), "input/output", "Not a directory");
}

BOOST_AUTO_TEST_CASE(ReadOnlyDirectoriesAreRefusedForWriting) {
  const Place place;
  fs::create_directory(place.path());
  BOOST_REQUIRE_EQUAL(::chmod(place.path("").c_str(), 0755), 0);
  BOOST_REQUIRE_EQUAL(::chmod(place.path().c_str(), 0500), 0);
  if (::geteuid() == 0) BOOST_REQUIRE_EQUAL(::chown(place.path().c_str(), kNobody, kNobody), 0);
  OverlayOptions inside = place.options();
  inside.directory += "/new";
  without_rights([&] {
    check_refused(place.options(), "input/output", "cannot be written: Permission denied");
    check_refused(inside, "input/output", "Permission denied");
    BOOST_TEST(finding(place.open(OverlayMode::read_only), 1) == "no entry");
  });
}

BOOST_AUTO_TEST_CASE(FilesThatOthersCouldWriteAreNotUsed) {
  const Place place;
  const Overlay overlay = place.open();
  store(overlay, 1);
  const std::string path = place.entry(sample_key(1));
  BOOST_REQUIRE_EQUAL(::chmod(path.c_str(), 0622), 0);
  BOOST_TEST(finding(overlay, 1) == "no entry");
  fs::rename(path, place.path("real"));
  BOOST_REQUIRE_EQUAL(::chmod(place.path("real").c_str(), 0600), 0);
  fs::create_symlink(place.path("real"), path);
  BOOST_TEST(finding(overlay, 1) == "no entry");
  fs::remove(path);
  BOOST_REQUIRE_EQUAL(::mkfifo(path.c_str(), 0600), 0);
  BOOST_TEST(finding(overlay, 1) == "no entry");
  store(overlay, 1);  // replaces it
  BOOST_TEST(finding(overlay, 1) == "ok");
}

BOOST_AUTO_TEST_CASE(ADirectoryThatCannotBeMadeIsRefused) {
  check_refused({"/proc/no-such-directory/overlay", OverlayMode::read_write}, "not found", "No such file");
}

BOOST_AUTO_TEST_CASE(TheUsersDirectoryFollowsTheEnvironment) {
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/home/me", 1);
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == "/home/me/.cache/my-app/clbake");
  ::unsetenv("XDG_CACHE_HOME");
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == "/home/me/.cache/my-app/clbake");
}

BOOST_AUTO_TEST_CASE(ARemovedDirectoryIsReported) {
  const Place place;
  const Overlay overlay = place.open();
  fs::remove_all(place.path());
  const Status status = overlay.store(sample_key(1), sample_entries(1, 1));
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(status.message().find(place.path()) == 0U, status.message());
  BOOST_TEST(finding(overlay, 1) == "no entry");
}

// A directory "shared" that others may read, with the entries 1 and 3, as an administrator makes it of an overlay.
struct SharedPlace : Place {
  SharedPlace() {
    const Overlay made = required(Overlay::open({path("shared"), OverlayMode::read_write, 1U << 20U}));
    for (const std::uint64_t number : {1U, 3U}) store(made, number);
    for (const fs::path& file : fs::directory_iterator(path("shared"))) ::chmod(file.c_str(), 0644);
    ::chmod(path("shared").c_str(), 0755);
  }
  std::string shared(std::uint64_t number) const { return path("shared/" + sample_key(number).hash + ".clbake"); }
  OverlayOptions over(OverlayMode mode = OverlayMode::read_write) const {
    OverlayOptions both = options(mode);
    both.shared = path("shared");
    both.shared_owner = std::to_string(::geteuid());
    return both;
  }
};

BOOST_AUTO_TEST_CASE(ASharedDirectoryServesWhereTheOwnOneHasNothing) {
  const SharedPlace place;
  make_hours_old(place.shared(1), 2);
  const Overlay overlay = Place::required(Overlay::open(place.over()));
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(finding(overlay, 2) == "no entry");
  store(overlay, 2);
  BOOST_TEST(finding(overlay, 2) == "ok");
  BOOST_TEST(place.files() == 1U);
  BOOST_TEST(!fs::exists(place.shared(2)));
  BOOST_TEST(seconds_old(place.shared(1)) >= 7000);  // not touched
  // A damaged file of either serves nothing; the own one goes, the shared one stays.
  store(overlay, 3);
  write(place.entry(sample_key(3)), "damaged");
  BOOST_TEST(finding(overlay, 3) == "ok");
  BOOST_TEST(!fs::exists(place.entry(sample_key(3))));
  write(place.shared(1), "damaged");
  BOOST_TEST(finding(overlay, 1) == "not a bundle");
  BOOST_TEST(fs::exists(place.shared(1)));
}

BOOST_AUTO_TEST_CASE(ASharedDirectoryMayBeTheOnlyOne) {
  const SharedPlace place;
  OverlayOptions options = place.over(OverlayMode::off);
  options.directory.clear();
  const Overlay overlay = Place::required(Overlay::open(options));
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(finding(overlay, 2) == "no entry");
  BOOST_TEST(overlay.store(sample_key(2), sample_entries(2, 1)).ok());
  BOOST_TEST(finding(overlay, 2) == "no entry");
  BOOST_TEST(!overlay.is_rejected(sample_key(1), 7));
  BOOST_TEST(!overlay.is_part(sample_key(1)));
}

BOOST_AUTO_TEST_CASE(ASharedDirectoryThatDoesNotExistIsNone) {
  const Place place;
  OverlayOptions options = place.options();
  options.shared = place.path("nothing");
  BOOST_TEST(Overlay::open(options).ok());
}

BOOST_AUTO_TEST_CASE(ASharedDirectoryThatOthersCanChangeIsRefused) {
  const SharedPlace place;
  const auto refused = [&](const OverlayOptions& options, const std::string& cause) {
    const Status status = Overlay::open(options).status();
    BOOST_TEST(outcome(status) == "input/output");
    BOOST_TEST(status.message().find(options.shared + ": " + cause) == 0U, status.message());
  };
  OverlayOptions options = place.over();
  options.shared_owner = "nobody-of-this-name";
  refused(options, "its owner should be 'nobody-of-this-name': there is no such user");
  ::chmod(place.path("shared").c_str(), 0775);
  refused(place.over(), "users other than its owner can write to it");
  ::chmod(place.path("shared").c_str(), 0755);
  fs::create_symlink(place.path("shared"), place.path("link"));
  options = place.over();
  options.shared = place.path("link");
  refused(options, "is a symbolic link");
  options.shared += "/.";
  BOOST_TEST(Overlay::open(options).status().message() ==
             place.path("link") + ": is a symbolic link: not used as an overlay");
  ::chmod(place.shared(1).c_str(), 0666);
  BOOST_TEST(finding(Place::required(Overlay::open(place.over())), 1) == "no entry");
}

BOOST_AUTO_TEST_CASE(ASharedDirectoryIsRootsOrANamedUsers) {
  if (::geteuid() != 0) return;  // cannot give files away
  const SharedPlace place;
  ::chmod(place.path(".").c_str(), 0755);
  OverlayOptions options = place.over(OverlayMode::off);
  options.shared_owner.clear();
  without_rights([&] {  // as many users do
    const Result<Overlay> overlay = Overlay::open(options);
    BOOST_TEST(overlay.status().message() == "");
    if (overlay) BOOST_TEST(finding(*overlay, 1) == "ok");
  });
  BOOST_REQUIRE(::chown(place.shared(1).c_str(), kNobody, 0) == 0);  // a file of another user's in it
  BOOST_TEST(finding(Place::required(Overlay::open(options)), 1) == "no entry");
  BOOST_REQUIRE(::chown(place.path("shared").c_str(), kNobody, 0) == 0);
  const Status status = Overlay::open(options).status();
  BOOST_TEST(status.message() ==
             place.path("shared") + ": belongs to user 65534, not to user 0: not used as an overlay");
  options.shared_owner = "65534";
  BOOST_TEST(finding(Place::required(Overlay::open(options)), 1) == "ok");
  BOOST_TEST(finding(Place::required(Overlay::open(options)), 3) == "no entry");  // root's
}

}  // namespace clbake::test
