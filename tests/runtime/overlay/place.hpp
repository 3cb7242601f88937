// A place for an overlay, and what its tests ask of it.
#pragma once

#include "overlay/overlay_samples.hpp"
#include "system/temporary_directory.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace clbake::test {

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
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path()), std::filesystem::directory_iterator()));
  }

  std::size_t entries() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(path())) count += file.path().extension() == ".clbake";
    return count;
  }

  template <typename T>
  static T required(Result<T> result) {
    BOOST_REQUIRE_MESSAGE(result.ok(), result.status().message());
    return std::move(*result);
  }

 private:
  tests::TemporaryDirectory root_;
};

inline std::string outcome(const Status& status) { return std::string(name(status.code())); }

// "ok" only if the sample was found.
inline std::string finding(const Overlay& overlay, std::uint64_t number) {
  const Result<Bundle> bundle = overlay.find(sample_key(number));
  if (!bundle) return outcome(bundle.status());
  const Result<cache::EntryInfo> entry = bundle->find_entry(0, 0);
  if (!entry) return "without its entry";
  const Result<cache::Bytes> program = bundle->program(*entry);
  return program && is_sample(*program, number) ? "ok" : "wrong bytes";
}

inline void store(const Overlay& overlay, std::uint64_t number, std::size_t words = 500) {
  const Status status = overlay.store(sample_key(number), sample_entries(number, 1, words));
  BOOST_REQUIRE_MESSAGE(status.ok(), status.message());
}

inline void check_refused(const OverlayOptions& options, const std::string& code, const std::string& cause) {
  const Result<Overlay> overlay = Overlay::open(options);
  BOOST_TEST(outcome(overlay.status()) == code);
  const std::string& message = overlay.status().message();
  BOOST_TEST(message.find(options.directory.substr(0, options.directory.find_last_not_of("/.") + 1)) == 0U, message);
  BOOST_TEST(message.find(cause) != std::string::npos, message);
}

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  namespace fs = std::filesystem;
  fs::permissions(fs::u8path(path), fs::perms::owner_read | fs::perms::owner_write);
}

inline void make_older(const std::string& path, std::chrono::seconds age) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - age);
}

inline void make_hours_old(const std::string& path, int hours) { make_older(path, std::chrono::hours(hours)); }

inline std::int64_t seconds_old(const std::string& path) {
  const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(path);
  return std::chrono::duration_cast<std::chrono::seconds>(age).count();
}

}  // namespace clbake::test
