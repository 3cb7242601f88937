// The overlay's entries: found, refused, damaged and evicted ones.
#include "overlay/overlay_samples.hpp"
#include "system/temporary_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace fs = std::filesystem;

namespace clbake::test {
namespace {

using tests::TemporaryDirectory;

constexpr uid_t kNobody = 65534;

// A directory for one test; the overlay is in its subdirectory "overlay".
class Place {
 public:
  std::string path(const std::string& name = "overlay") const { return root_.file(name); }
  OverlayOptions options(OverlayMode mode = OverlayMode::read_write) const { return {path(), mode, 1U << 20U}; }
  Overlay open(OverlayMode mode = OverlayMode::read_write) const { return required(Overlay::open(options(mode))); }
  Overlay open_of_blocks(std::uint64_t blocks) const {  // of 4 KiB
    return required(Overlay::open({path(), OverlayMode::read_write, 4096 * blocks}));
  }
  std::string entry(const OverlayKey& key) const { return path() + "/" + key.hash + ".clbake"; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path()), fs::directory_iterator()));
  }

  template <typename T>
  static T required(Result<T> result) {
    BOOST_REQUIRE_MESSAGE(result.ok(), result.status().message());
    return std::move(*result);
  }

 private:
  TemporaryDirectory root_;
};

std::string outcome(const Status& status) { return std::string(name(status.code())); }

// "ok" only if the sample was found.
std::string finding(const Overlay& overlay, std::uint64_t number) {
  const Result<Bundle> bundle = overlay.find(sample_key(number));
  if (!bundle) return outcome(bundle.status());
  const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0);
  if (!entry) return "without its entry";
  const Result<cache::Bytes> program = bundle->program(*entry);
  return program && is_sample(*program, number) ? "ok" : "wrong bytes";
}

void store(const Overlay& overlay, std::uint64_t number, std::size_t words = 500) {
  const Status status = overlay.store(sample_key(number), sample_entries(number, 1, words));
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
}

void check_refused(const OverlayOptions& options, const std::string& code, const std::string& cause) {
  const Result<Overlay> overlay = Overlay::open(options);
  BOOST_TEST(outcome(overlay.status()) == code);
  const std::string& message = overlay.status().message();
  BOOST_TEST(message.find(options.directory.substr(0, options.directory.find_last_not_of('/') + 1)) == 0U, message);
  BOOST_TEST(message.find(cause) != std::string::npos, message);
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  BOOST_REQUIRE_EQUAL(::chmod(path.c_str(), 0600), 0);
}

void make_hours_old(const std::string& path, int hours) {
  const timespec then = {std::time(nullptr) - std::time_t{3600} * hours, 0};
  const timespec both[2] = {then, then};
  BOOST_REQUIRE_EQUAL(::utimensat(AT_FDCWD, path.c_str(), both, 0), 0);
}

std::int64_t seconds_old(const std::string& path) {
  struct stat info = {};
  BOOST_REQUIRE_EQUAL(::stat(path.c_str(), &info), 0);
  return std::time(nullptr) - info.st_mtime;
}

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

BOOST_AUTO_TEST_CASE(AStoredEntryIsFoundByEveryReader) {
  const Place place;
  const Overlay overlay = place.open();
  BOOST_TEST(finding(overlay, 1) == "no entry");
  store(overlay, 1);
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(finding(place.open(), 1) == "ok");
  BOOST_TEST(finding(place.open(OverlayMode::read_only), 1) == "ok");
  BOOST_TEST(finding(overlay, 2) == "no entry");
}

BOOST_AUTO_TEST_CASE(BothFormsOfAProgramAreStored) {
  const Place place;
  const Overlay overlay = place.open();
  std::vector<cache::Entry> entries = sample_entries(1, 1);
  entries.push_back(sample_entries(1, 2)[0]);
  entries[1].form = cache::Form::portable;
  BOOST_REQUIRE(overlay.store(sample_key(1), entries).ok());
  const Bundle bundle = Place::required(overlay.find(sample_key(1)));
  BOOST_TEST(bundle.entry_count() == 2U);
  BOOST_TEST((Place::required(bundle.find_entry(0, 0, cache::Form::portable)).form == cache::Form::portable));
  BOOST_TEST((Place::required(bundle.target(0)) == sample_key(1).target));
}

BOOST_AUTO_TEST_CASE(ANewEntryReplacesTheOldOne) {
  const Place place;
  const Overlay overlay = place.open();
  store(overlay, 1, 100);
  const Bundle old = Place::required(overlay.find(sample_key(1)));
  store(overlay, 1, 200);
  BOOST_TEST(Place::required(overlay.find(sample_key(1))).entry(0)->program.raw_bytes == 1600U);
  BOOST_TEST(place.files() == 1U);
  BOOST_TEST(old.verify().ok());
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

BOOST_AUTO_TEST_CASE(EveryFieldOfTheKeyCounts) {
  const OverlayKey key = sample_key(1);
  const std::function<void(OverlayKey&)> changes[] = {
      [](OverlayKey& k) { k.target.platform_name += "x"; }, [](OverlayKey& k) { k.target.platform_version += "x"; },
      [](OverlayKey& k) { k.target.vendor += "x"; }, [](OverlayKey& k) { k.target.device_name += "x"; },
      [](OverlayKey& k) { k.target.device_version += "x"; }, [](OverlayKey& k) { k.target.driver_version += "x"; },
      [](OverlayKey& k) { k.target.architecture += "x"; }, [](OverlayKey& k) { k.target.address_bits = 32; },
      [](OverlayKey& k) { k.target.cpu_features += "x"; }, [](OverlayKey& k) { k.source.name += "x"; },
      [](OverlayKey& k) { k.source.text += "x"; }, [](OverlayKey& k) { k.variant.name += "x"; },
      [](OverlayKey& k) { k.variant.build_options += "x"; }, [](OverlayKey& k) { k.variant.family += "x"; },
      [](OverlayKey& k) { k.variant.contract += 1; }, [](OverlayKey& k) { k.variant.trans_a = true; },
      [](OverlayKey& k) { k.variant.trans_b = true; }, [](OverlayKey& k) { k.variant.image_a = true; },
      [](OverlayKey& k) { k.variant.image_b = true; }, [](OverlayKey& k) { k.variant.block_m = 2; },
      [](OverlayKey& k) { k.variant.block_n = 2; }, [](OverlayKey& k) { k.variant.block_k = 2; },
      [](OverlayKey& k) { k.variant.split_k = 2; }, [](OverlayKey& k) { k.variant.launches[0].tile_m = 2; },
      [](OverlayKey& k) { k.variant.launches[0].tile_n = 2; },
      [](OverlayKey& k) { k.variant.launches[0].local[2] = 2; },
      [](OverlayKey& k) { k.variant.launches[0].kernel_name += "x"; },
      [](OverlayKey& k) { k.variant.launches.push_back(k.variant.launches[0]); },
      [](OverlayKey& k) { k.variant.precision = Precision::half_precision; },
      // Text that moves from one field to the next.
      [](OverlayKey& k) { k.target.platform_name = "Made", k.target.platform_version = " Up"; }};
  std::vector<std::string> hashes = {key.hash};
  for (const auto& change : changes) {
    OverlayKey other = key;
    change(other);
    hashes.push_back(overlay_key(other.target, other.source, other.variant).hash);
  }
  BOOST_TEST(key.hash.size() == 32U);
  std::sort(hashes.begin(), hashes.end());
  BOOST_TEST((std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end()));
  OverlayKey same = key;
  same.variant.source = 9;
  BOOST_TEST(overlay_key(same.target, same.source, same.variant).hash == key.hash);
}

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

BOOST_AUTO_TEST_CASE(ReadOnlyCreatesAndChangesNothing) {
  const Place place;
  check_refused(place.options(OverlayMode::read_only), "not found", "No such file");
  BOOST_TEST(!fs::exists(place.path()));
  store(place.open(), 1);
  make_hours_old(place.entry(sample_key(1)), 5);
  const Overlay overlay = place.open(OverlayMode::read_only);
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(seconds_old(place.entry(sample_key(1))) >= 5 * 3600);
  BOOST_TEST(overlay.store(sample_key(2), sample_entries(2, 1)).ok());
  BOOST_TEST(overlay.mark_rejected(sample_key(2), 5).ok());
  BOOST_TEST(place.files() == 1U);
  write(place.entry(sample_key(1)), "damaged");
  BOOST_TEST(finding(overlay, 1) == "not a bundle");
  BOOST_TEST(place.files() == 1U);
}

BOOST_AUTO_TEST_CASE(AnOverlayThatIsOffOrNowhereIsRefused) {
  const Place place;
  check_refused(place.options(OverlayMode::off), "invalid argument", "off");
  check_refused({"", OverlayMode::read_write}, "invalid argument", "not named");
  check_refused({"/proc/no-such-directory/overlay", OverlayMode::read_write}, "not found", "No such file");
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
  OverlayOptions slash = place.options();
  slash.directory += "//";
  check_refused(slash, "input/output", "symbolic link");
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

BOOST_AUTO_TEST_CASE(ARemovedDirectoryIsReported) {
  const Place place;
  const Overlay overlay = place.open();
  fs::remove_all(place.path());
  const Status status = overlay.store(sample_key(1), sample_entries(1, 1));
  BOOST_TEST(outcome(status) == "input/output");
  BOOST_TEST(status.message().find(place.path()) == 0U, status.message());
  BOOST_TEST(finding(overlay, 1) == "no entry");
}

BOOST_AUTO_TEST_CASE(NoEntryAndTooLargeEntriesAreRefused) {
  const Place place;
  const Overlay overlay = place.open();
  BOOST_TEST(outcome(overlay.store(sample_key(1), {})) == "invalid argument");
  BOOST_TEST(outcome(overlay.store(sample_key(1), sample_entries(1, 1, 1U << 19U))) == "invalid argument");
  BOOST_TEST(place.files() == 0U);
}

BOOST_AUTO_TEST_CASE(DamagedFilesAreMissesAndAreRemoved) {
  const Place place;
  const Overlay overlay = place.open();
  store(overlay, 1, 20);
  const std::string path = place.entry(sample_key(1));
  const std::string whole = content_of(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    write(path, whole.substr(0, at));
    BOOST_TEST(finding(overlay, 1) == "truncated");
    BOOST_TEST(!fs::exists(path));
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    write(path, damaged);
    const std::string found = finding(overlay, 1);
    BOOST_TEST((found != "ok" && found != "wrong bytes" && found != "no entry"),
               found + ", byte " + std::to_string(at));
    // A file that a newer clbake may have written stays.
    BOOST_TEST(fs::exists(path) == (found == "unsupported version"));
  }
  store(overlay, 1);
  BOOST_TEST(finding(overlay, 1) == "ok");
}

BOOST_AUTO_TEST_CASE(AFileOfAnotherKeyIsAMissAndIsRemoved) {
  const Place place;
  const Overlay overlay = place.open();
  store(overlay, 1);
  fs::rename(place.entry(sample_key(1)), place.entry(sample_key(2)));
  BOOST_TEST(finding(overlay, 2) == "malformed");
  BOOST_TEST(place.files() == 0U);
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

BOOST_AUTO_TEST_CASE(TheLeastRecentlyUsedEntryIsEvictedFirst) {
  const Place place;
  const Overlay overlay = place.open_of_blocks(3);  // three files: each is of less than a block
  for (const int number : {1, 2, 3}) {
    store(overlay, static_cast<std::uint64_t>(number), 100);
    make_hours_old(place.entry(sample_key(static_cast<std::uint64_t>(number))), 10 - number);
  }
  BOOST_TEST(place.files() == 3U);
  BOOST_TEST(finding(overlay, 1) == "ok");  // now the most recently used
  store(overlay, 4, 100);
  BOOST_TEST(finding(overlay, 2) == "no entry");
  store(overlay, 5, 100);
  BOOST_TEST(finding(overlay, 3) == "no entry");
  for (const std::uint64_t number : {1U, 4U, 5U}) BOOST_TEST(finding(overlay, number) == "ok");
  // The newest is never evicted, whatever the others' times.
  for (const std::uint64_t number : {1U, 4U, 5U}) make_hours_old(place.entry(sample_key(number)), -5);
  store(overlay, 6, 100);
  BOOST_TEST(finding(overlay, 6) == "ok");
}

BOOST_AUTO_TEST_CASE(FilesAreTouchedAtMostOncePerHour) {
  const Place place;
  const Overlay overlay = place.open();
  store(overlay, 1);
  const std::string path = place.entry(sample_key(1));
  const timespec before[2] = {{std::time(nullptr) - 1800, 0}, {std::time(nullptr) - 1800, 0}};
  BOOST_REQUIRE_EQUAL(::utimensat(AT_FDCWD, path.c_str(), before, 0), 0);
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(seconds_old(path) >= 1800);
  make_hours_old(path, 2);
  BOOST_TEST(finding(overlay, 1) == "ok");
  BOOST_TEST(seconds_old(path) < 1800);
}

BOOST_AUTO_TEST_CASE(AbandonedTemporaryFilesAreRemovedAndOthersStay) {
  const Place place;
  const Overlay overlay = place.open_of_blocks(1);
  const std::string abandoned = place.entry(sample_key(1)) + ".tmp.1.0";
  const std::string being_written = place.entry(sample_key(2)) + ".tmp.1.0";
  write(abandoned, "x");
  write(being_written, "x");
  write(place.path("overlay/README"), std::string(100000, 'x'));
  write(place.path("overlay/gemm.clbake"), std::string(100000, 'x'));
  make_hours_old(abandoned, 2);
  make_hours_old(place.path("overlay/README"), 2);
  make_hours_old(place.path("overlay/gemm.clbake"), 2);
  store(overlay, 3, 100);
  BOOST_TEST(!fs::exists(abandoned));
  BOOST_TEST(fs::exists(being_written));
  BOOST_TEST(fs::exists(place.path("overlay/README")));
  BOOST_TEST(fs::exists(place.path("overlay/gemm.clbake")));
  BOOST_TEST(finding(overlay, 3) == "ok");
}

BOOST_AUTO_TEST_CASE(ARejectedProgramIsRememberedForItsDriver) {
  const Place place;
  const Overlay overlay = place.open();
  const OverlayKey key = sample_key(1);
  BOOST_TEST(!overlay.is_rejected(key, 0x123));
  BOOST_REQUIRE(overlay.mark_rejected(key, 0x123).ok());
  BOOST_TEST(overlay.is_rejected(key, 0x123));
  BOOST_TEST(place.open(OverlayMode::read_only).is_rejected(key, 0x123));
  BOOST_TEST(!overlay.is_rejected(key, 0x124));
  cache::Target updated = key.target;
  updated.driver_version = "1.1";
  BOOST_TEST(!overlay.is_rejected(overlay_key(updated, key.source, key.variant), 0x123));
  BOOST_TEST(finding(overlay, 1) == "no entry");
  BOOST_TEST(place.files() == 1U);
}

BOOST_AUTO_TEST_CASE(RejectionMarksCountAndAreEvictedLikeEntries) {
  const Place place;
  const Overlay overlay = place.open_of_blocks(2);
  const OverlayKey key = sample_key(1);
  for (const std::uint64_t checksum : {1U, 2U, 3U}) BOOST_REQUIRE(overlay.mark_rejected(key, checksum).ok());
  BOOST_TEST(place.files() == 2U);
  BOOST_TEST(overlay.is_rejected(key, 3));
}

BOOST_AUTO_TEST_CASE(TheUsersDirectoryFollowsTheEnvironment) {
  ::setenv("XDG_CACHE_HOME", "/caches", 1);
  ::setenv("HOME", "/home/me", 1);
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == "/caches/my-app/clbake");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == "/home/me/.cache/my-app/clbake");
  ::unsetenv("XDG_CACHE_HOME");
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == "/home/me/.cache/my-app/clbake");
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a\0b", 3)}) {
    BOOST_TEST(outcome(user_cache_directory(bad).status()) == "invalid argument");
  }
  ::unsetenv("HOME");
  BOOST_TEST(outcome(user_cache_directory("my-app").status()) == "not found");
}

}  // namespace clbake::test
