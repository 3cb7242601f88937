// Bundles that do not fit the device, or are damaged: the right miss, then a right result.
#include "api/library_scene.hpp"
#include "driver_main.hpp"

using namespace clbake;
using namespace clbake::tests;

namespace {

struct Served {
  Explanation explanation;
  std::string failure;  // of a product; empty: it was right
};

Result<Served> serve(const cache::Bytes& bytes, OnMiss on_miss) {
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  if (!bundle) return bundle.status();
  Options options;
  options.on_miss = on_miss;
  const Result<Library> library = Library::create(here().session.context(), here().device.id, {*bundle}, options);
  if (!library) return library.status();
  Result<Gemm> gemm = library->prepare(small_problem());
  if (!gemm) return gemm.status();
  return Served{gemm->explanation(), failure_of(*gemm, small_problem())};
}

void require_miss_then_right(const cache::Bytes& bytes, Code reason) {
  const Result<Served> refused = serve(bytes, OnMiss::fail);
  BOOST_TEST(name(refused.status().code()) == name(reason), refused.status().message());
  const Result<Served> served = serve(bytes, OnMiss::compile);
  BOOST_REQUIRE_MESSAGE(served.ok(), served.status().message());
  BOOST_TEST((served->explanation.origin == Origin::source));
  BOOST_TEST(name(served->explanation.miss) == name(reason));
  BOOST_TEST(served->failure == "");
}

// Options whose log keeps the warnings.
Options keeping(std::vector<std::string>& warnings) {
  Options options;
  options.log_data = &warnings;
  options.log = [](LogLevel level, const char* message, void* data) {
    if (level == LogLevel::warning) static_cast<std::vector<std::string>*>(data)->emplace_back(message);
  };
  return options;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnIntactBundleServesItsBinary) {
  const Result<Served> served = serve(changed_bundle([](cache::Contents&) {}), OnMiss::fail);
  BOOST_REQUIRE_MESSAGE(served.ok(), served.status().message());
  BOOST_TEST((served->explanation.origin == Origin::native));
  BOOST_TEST((served->explanation.miss == Code::ok));
  BOOST_TEST(served->failure == "");
}

BOOST_AUTO_TEST_CASE(AMissIsCompiled) {
  using cache::Contents;
  require_miss_then_right(changed_bundle([](Contents& c) {
                            for (Target& t : c.targets) t.driver_version += ".1";
                          }),
                          Code::other_driver);
  require_miss_then_right(changed_bundle([](Contents& c) {
                            for (Target& t : c.targets) t.platform_version += " LLVM 99";
                          }),
                          Code::other_driver);
  require_miss_then_right(changed_bundle([](Contents& c) {
                            for (Target& t : c.targets) t.device_name += " II";
                          }),
                          Code::no_target);
  require_miss_then_right(changed_bundle([](Contents& c) { c.entries.clear(); }), Code::no_entry);
  // Valid by every checksum, and no program: only text reaches the driver, which refuses it without harm.
  require_miss_then_right(changed_bundle([](Contents& c) {
                            for (cache::Entry& e : c.entries) e.program.assign(64, 'x');
                          }),
                          Code::driver_rejected);
}

BOOST_AUTO_TEST_CASE(APortableProgramServesAndSaysSo) {
  const Result<Served> served = serve(changed_bundle([](cache::Contents& c) {
                                        for (cache::Entry& e : c.entries) e.form = cache::Form::portable;
                                      }),
                                      OnMiss::fail);
  BOOST_REQUIRE_MESSAGE(served.ok(), served.status().message());
  BOOST_TEST((served->explanation.origin == Origin::portable));
  BOOST_TEST(name(served->explanation.miss) == name(Code::no_entry));
  BOOST_TEST(served->explanation.baked_for == "");
  BOOST_TEST(served->failure == "");
}

BOOST_AUTO_TEST_CASE(ABundleThatCannotServeIsRefused) {
  const auto code = [](const std::function<void(cache::Contents&)>& change) {
    return name(serve(changed_bundle(change), OnMiss::compile).status().code());
  };
  BOOST_TEST(code([](cache::Contents& c) { c.profiles.clear(); }) == name(Code::no_variant));
  BOOST_TEST(code([](cache::Contents& c) {  // an unknown kernel contract
               for (cache::Variant& v : c.variants) v.contract = 99;
             }) == name(Code::unsupported_version));
}

BOOST_AUTO_TEST_CASE(ABrokenSourceGivesTheBuildLog) {
  const cache::Bytes bytes = changed_bundle([](cache::Contents& c) {
    c.entries.clear();
    for (cache::Source& s : c.sources) s.text = "this is not OpenCL C\n";
  });
  const Result<Served> served = serve(bytes, OnMiss::compile);
  BOOST_TEST(name(served.status().code()) == name(Code::build_failed));
  BOOST_TEST(served.status().message().find('\n') == std::string::npos);
}

// A default chooses instead, whose program may have to be compiled.
BOOST_AUTO_TEST_CASE(ADamagedProfileIsAWarning) {
  cache::Bytes bytes = changed_bundle([](cache::Contents&) {});
  const auto opened = [&] { return Bundle::from_memory({bytes.data(), bytes.size()}); };
  const auto is_damaged = [&] {
    const Result<Bundle> bundle = opened();
    const Result<std::uint32_t> target = bundle ? bundle->find_target(here().device.target) : bundle.status();
    return target && bundle->find_profile(*target).status().code() == Code::checksum;
  };
  for (std::size_t at = bytes.size() - 1; !is_damaged() && at > 16; at -= 16) {
    bytes[at] ^= 1;
    if (!is_damaged()) bytes[at] ^= 1;
  }
  BOOST_REQUIRE(is_damaged());
  std::vector<std::string> warnings;
  const Options options = keeping(warnings);
  BOOST_REQUIRE(Library::create(here().session.context(), here().device.id, {*opened()}, options).ok());
  BOOST_REQUIRE_EQUAL(warnings.size(), 1U);
  BOOST_TEST(warnings[0].find("bundle 0: profiles record ") == 0, warnings[0]);
  BOOST_TEST(warnings[0].find("checksum mismatch") != std::string::npos, warnings[0]);
}

// It neither fails with "no variant" nor happens silently.
BOOST_AUTO_TEST_CASE(AKindThatWasNotBakedIsServedByTheDefaultOfTheDevicesType) {
  const cache::Bytes bytes = changed_bundle([](cache::Contents& c) {
    c.entries.clear();
    for (cache::Profile& profile : c.profiles) {
      const cache::Target& target = c.targets[profile.target];
      if (target == cache::any_device(true) || target == cache::any_device(false)) continue;
      profile = {profile.target, profile.units, {}, {}, {}};
    }
  });
  require_miss_then_right(bytes, Code::no_entry);
  BOOST_TEST(serve(bytes, OnMiss::compile)->explanation.reason == "the default for this type of device");
  std::vector<std::string> warnings;
  const Options options = keeping(warnings);
  const Result<Bundle> bundle = Bundle::from_memory({bytes.data(), bytes.size()});
  const Result<Library> library = Library::create(here().session.context(), here().device.id, {*bundle}, options);
  BOOST_REQUIRE(library->prepare(small_problem()).ok());
  BOOST_REQUIRE_EQUAL(warnings.size(), 1U);
  BOOST_TEST(warnings[0].find(" is served from source, compiled in ") != std::string::npos, warnings[0]);
  BOOST_TEST(warnings[0].find("(the default for this type of device)") != std::string::npos, warnings[0]);
}
