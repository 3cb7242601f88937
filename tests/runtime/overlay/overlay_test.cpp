// The overlay's entries: found, refused, damaged and evicted ones.
#include "overlay/place.hpp"

#include <clbake/os/directories.hpp>
#include <clbake/os/environment.hpp>

#include <algorithm>
#include <chrono>

namespace fs = std::filesystem;

namespace clbake::test {
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
  BOOST_TEST(place.entries() == 1U);  // on Windows the old one stays under another name while it is open
  BOOST_TEST(old.verify().ok());
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

BOOST_AUTO_TEST_CASE(ReadOnlyCreatesAndChangesNothing) {
  const Place place;
  check_refused(place.options(OverlayMode::read_only), "not found", "");
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
  make_older(path, std::chrono::minutes(30));
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

BOOST_AUTO_TEST_CASE(TheUsersDirectoryHasTheApplicationsName) {
  const std::string caches = os::is_absolute("/caches") ? "/caches" : "C:/caches";
  for (const char* name : {"XDG_CACHE_HOME", "LOCALAPPDATA"}) BOOST_REQUIRE(os::set_variable(name, caches));
  BOOST_TEST(Place::required(user_cache_directory("my-app")) == caches + "/my-app/clbake");
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("a\0b", 3)}) {
    BOOST_TEST(outcome(user_cache_directory(bad).status()) == "invalid argument");
  }
  for (const char* name : {"XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"}) BOOST_REQUIRE(os::unset_variable(name));
  BOOST_TEST(outcome(user_cache_directory("my-app").status()) == "not found");
}

}  // namespace clbake::test
