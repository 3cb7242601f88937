// `clbake devices`, `inspect` and `run` with the bundle that was baked for this machine.
#include "command.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

namespace clbake::tool::test {
namespace {

using Json = nlohmann::json;

// `run FILE` on a product of 8 x 8 x 8, then these.
Arguments run_arguments(const std::string& file, const Arguments& more = {}) {
  return Arguments{"run", file, "--m", "8", "--n", "8", "--k", "8"} + more;
}

std::string first_device() {
  return json_of(clbake({"devices", "--json"})).at("devices").at(0).at("target").at("device_name");
}

// The baked bundle with something changed, in a file.
std::string changed_bundle(const Directory& directory, const std::function<void(cache::Contents&)>& change) {
  cache::Contents contents = baked_contents();
  change(contents);
  return directory.write("changed.clbake", encoded(contents));
}

void check_target(const Json& target) {
  for (const char* field : {"platform_name", "platform_version", "vendor", "device_name", "device_version",
                            "driver_version", "architecture", "cpu_features"}) {
    BOOST_TEST(target.at(field).is_string(), field);
  }
  BOOST_TEST(!target.at("platform_name").get<std::string>().empty());
  BOOST_TEST(!target.at("device_name").get<std::string>().empty());
  BOOST_TEST((target.at("address_bits") == 64 || target.at("address_bits") == 32));
}

void check_positive(const Json& object, const std::vector<const char*>& fields) {
  for (const char* field : fields) {
    BOOST_TEST(object.at(field).is_number(), field);
    BOOST_TEST(object.at(field).get<double>() > 0, field);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(WhatMachineCodeDependsOnIsShown) {
  const Directory directory;
  const std::string file = changed_bundle(directory, [](cache::Contents& contents) {
    for (cache::Target& target : contents.targets) {
      if (!target.driver_version.empty()) target.cpu_features = "avx avx999";
    }
  });
  const std::string text = clbake({"inspect", file}).out;
  BOOST_TEST(contains(text, ": a CPU with avx avx999\n"), text);
}

BOOST_AUTO_TEST_CASE(ThisMachinesDevicesAreListedAndTargetsOfTheBundle) {
  const Json targets = json_of(clbake({"inspect", baked_bundle(), "--json"})).at("targets");
  const Json devices = json_of(clbake({"devices", "--json"})).at("devices");
  BOOST_REQUIRE(!devices.empty());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    BOOST_TEST(devices.at(i).at("index") == i);
    check_target(devices.at(i).at("target"));
    BOOST_TEST((std::find(targets.begin(), targets.end(), devices.at(i).at("target")) != targets.end()));
  }
  const Outcome text = clbake({"devices"});
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, first_device()), text.out);
}

BOOST_AUTO_TEST_CASE(InspectSummarisesAndListsOnRequest) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  const std::string file = directory.write("some.clbake", encoded(contents));
  const auto inspect = [&](const Arguments& more) {
    const Outcome outcome = clbake(Arguments{"inspect", file} + more);
    BOOST_TEST(outcome.status == 0, outcome.err);
    return outcome.out;
  };
  const std::string summary = inspect({});
  BOOST_TEST(contains(summary, std::to_string(contents.entries.size()) + " entries"), summary);
  BOOST_TEST(contains(summary, contents.targets.at(0).device_name), summary);
  BOOST_TEST(contains(summary, "single nn nt tn tt"), summary);
  const std::string& variant = contents.variants.at(contents.entries.at(0).variant).name;
  BOOST_TEST(!contains(summary, variant), summary);
  BOOST_TEST(contains(inspect({"--entries"}), variant));
  BOOST_TEST(!contains(inspect({"--entries"}), "defaults"));
  BOOST_TEST(contains(inspect({"--profile"}), "defaults"));

  contents.entries.resize(1);
  contents.entries[0].form = cache::Form::native;
  contents.entries[0].proof.jit_free = false;
  contents.entries[0].proof.note = "compiled at the first launch";
  directory.write("some.clbake", encoded(contents));
  const std::string one = inspect({});
  BOOST_TEST(contains(one, ", 1 entry;"), one);
  BOOST_TEST(contains(one, ": 1 not JIT-free: compiled at the first launch"), one);
}

BOOST_AUTO_TEST_CASE(ARunFromTheBundleReportsAllItsFigures) {
  const Json json = json_of(clbake(run_arguments(baked_bundle(), {"--json", "--no-compile"})));
  BOOST_TEST(json.at("origin") == baked_origin());
  BOOST_TEST(json.at("miss") == (baked_origin() == "native" ? Json() : Json("no entry")));
  BOOST_TEST(json.at("variant").is_string());
  check_target(json.at("target"));
  check_positive(json, {"open_us", "load_us", "first_us", "steady_us", "gflops", "tolerance"});
  BOOST_TEST(json.at("max_error").is_number());
  BOOST_TEST(json.at("max_error").get<double>() <= json.at("tolerance").get<double>());
  BOOST_TEST(json.at("ok") == true);

  const Outcome text = clbake(run_arguments(baked_bundle()));
  BOOST_TEST(text.status == 0);
  BOOST_TEST(text.err == "");
  BOOST_TEST(contains(text.out, "from the bundle"), text.out);
}

BOOST_AUTO_TEST_CASE(EveryKindOfProblemIsRight) {
  for (const std::string precision : {"single", "double"}) {
    if (precision == "double" && !has_double()) continue;
    for (const Arguments& kind :
         {Arguments{}, {"--trans-a"}, {"--trans-b", "--column-major"}, {"--trans-a", "--trans-b"}}) {
      const Arguments all = {"run",    baked_bundle(), "--m",     "33",   "--n",         "17",      "--k",      "70",
                             "--beta", "-0.5",         "--alpha", "1.25", "--precision", precision, "--repeat", "2",
                             "--lda",  "90",           "--ldb",   "91",   "--ldc",       "92",      "--json"};
      const Json json = json_of(clbake(all + kind));
      BOOST_TEST(json.at("ok") == true);
      BOOST_TEST(json.at("origin") == baked_origin());
    }
  }
}

BOOST_AUTO_TEST_CASE(AMissIsNamedAndCompiled) {
  struct Case {
    const char* reason;
    const char* message;
    std::function<void(cache::Contents&)> change;
  };
  const auto of_targets = [](std::string cache::Target::*field, const char* more) {
    return [=](cache::Contents& c) {
      for (cache::Target& target : c.targets) target.*field += more;
    };
  };
  const Case cases[] = {
      {"other driver", "driver", of_targets(&cache::Target::driver_version, "-other")},
      {"no target", "device", of_targets(&cache::Target::device_name, ", but another one")},
      {"no entry", "", [](cache::Contents& c) { c.entries.clear(); }},
  };
  for (const Case& each : cases) {
    const Directory directory;
    const std::string file = changed_bundle(directory, each.change);
    const Json json = json_of(clbake(run_arguments(file, {"--json"})));
    BOOST_TEST(json.at("origin") == "source");
    BOOST_TEST(json.at("miss") == each.reason);
    BOOST_TEST(json.at("ok") == true);
    const bool hinted = contains(clbake(run_arguments(file)).out, "not baked: 'clbake build --precision single");
    BOOST_TEST(hinted == (each.reason == std::string("no entry")));
    check_refused(clbake(run_arguments(file, {"--no-compile"})), 1, {"clbake run", file, each.message});
  }
}

// The programs of A * B and A * B^T exchanged: all checksums hold, the numbers do not.
BOOST_AUTO_TEST_CASE(AWrongResultIsAFailure) {
  const Directory directory;
  std::string used;
  const std::string file = changed_bundle(directory, [&](cache::Contents& c) {
    const auto entry_of = [&](const std::string& name) {
      return std::find_if(c.entries.begin(), c.entries.end(),
                          [&](const cache::Entry& e) { return c.variants[e.variant].name == name; });
    };
    for (const cache::Variant& variant : c.variants) {
      const std::size_t trans = variant.name.find("-s-nn-");
      if (trans == std::string::npos) continue;
      const auto plain = entry_of(variant.name);
      const auto other = entry_of(std::string(variant.name).replace(trans, 6, "-s-nt-"));
      if (plain == c.entries.end() || other == c.entries.end()) continue;
      used = variant.name;
      std::swap(plain->program, other->program);
      return;
    }
  });
  BOOST_REQUIRE(!used.empty());
  const Outcome outcome = clbake(run_arguments(file, {"--json", "--variant", used}));
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.err, "wrong result"), outcome.err);
  BOOST_TEST(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  const Json json = Json::parse(outcome.out);
  BOOST_TEST(json.at("ok") == false);
  BOOST_TEST(json.at("max_error").get<double>() > json.at("tolerance").get<double>());
}

BOOST_AUTO_TEST_CASE(ADeviceIsSelectedByIndexAndByPartOfItsName) {
  const std::string name = first_device();
  for (const std::string& spec : {std::string("0"), name.substr(1, 5)}) {
    const Json json = json_of(clbake(run_arguments(baked_bundle(), {"--device", spec, "--json"})));
    BOOST_TEST(json.at("target").at("device_name") == name);
  }
  for (const std::string spec : {"no such device", "99"}) {
    check_refused(clbake(run_arguments(baked_bundle(), {"--device", spec})), 1, {"--device", "'" + spec + "'", name});
  }
}

BOOST_AUTO_TEST_CASE(WhatCannotRunIsNamedWithItsCause) {
  const std::tuple<Arguments, std::vector<std::string>> cases[] = {
      {{"--lda", "7"}, {"lda", "7", "8"}},
      {{"--ldc", "0"}, {"ldc", "0", "8"}},
      {{"--lda", "18446744073709551615"}, {"lda"}},
      {{"--lda", "2147483647", "--ldc", "2147483647"}, {"bytes"}},
      {{"--variant", "nonsense"}, {baked_bundle(), "nonsense"}},
  };
  for (const auto& [more, parts] : cases) check_refused(clbake(run_arguments(baked_bundle(), more)), 1, parts);
  check_refused(clbake({"run", baked_bundle(), "--m", "2147483648", "--n", "1", "--k", "1"}), 1, {"m = 2147483648"});
}

BOOST_AUTO_TEST_CASE(NothingRunsWithoutAPlatform, *OnPosix()) {
  check_refused(clbake(run_arguments(baked_bundle()), no_platform()), 1, {"clbake run", "no OpenCL platform"});
}

BOOST_AUTO_TEST_CASE(AnotherBundleIsAPeerWithItsOwnChoice) {
  const Directory directory;
  cache::Contents contents = baked_contents();
  const std::string other = served_by_direct(contents);
  const std::string file = directory.write("other.clbake", encoded(contents));
  const Arguments bench = {"bench",        "gemm",        baked_bundle(), "--against", file, "--sizes",
                           "40,200x30x20", "--precision", "single",       "--rounds",  "1"};
  const Json json = json_of(clbake(bench + Arguments{"--json"}));
  BOOST_REQUIRE(json.at("rows").size() == 2U);
  for (const Json& row : json.at("rows")) {
    BOOST_TEST(row.at("peer") == "other.clbake");
    BOOST_TEST(row.at("peer_variant") == other);
    check_positive(row, {"median_us", "peer_gflops", "ratio"});
  }
  const Json& mean = json.at("geometric_means").at(0);
  const double product =
      json.at("rows").at(0).at("ratio").get<double>() * json.at("rows").at(1).at("ratio").get<double>();
  BOOST_TEST(json.at("geometric_means").size() == 1U);
  BOOST_TEST(mean.at("peer") == "other.clbake");
  BOOST_TEST(mean.at("rows") == 2);
  BOOST_TEST(mean.at("ratio").get<double>() == std::sqrt(product), boost::test_tools::tolerance(1e-9));
  const Outcome text = clbake(bench);
  BOOST_TEST(contains(text.out, "  other.clbake  "), text.out);
  BOOST_TEST(contains(text.out, "geometric mean of 2 ratios against other.clbake"), text.out);
}

// A bundle of single precision without A^T is measured for what it has, and says what it lacks.
BOOST_AUTO_TEST_CASE(WhatIsNotBakedIsNamedAndLeftOut) {
  const Directory directory;
  const std::string file = changed_bundle(directory, [](cache::Contents& c) {
    const auto lacking = [&](const cache::Entry& e) {
      const cache::Variant& variant = c.variants[e.variant];
      return variant.precision == Precision::double_precision || variant.trans_a;
    };
    c.entries.erase(std::remove_if(c.entries.begin(), c.entries.end(), lacking), c.entries.end());
  });
  const auto bench = [&](const std::string& bundle, const Arguments& more) {
    return clbake(Arguments{"bench", "gemm", bundle, "--sizes", "24,32", "--rounds", "1", "--json"} + more);
  };
  const Json json = json_of(bench(file, {}));
  BOOST_REQUIRE(json.at("rows").size() == 2U);
  for (const Json& row : json.at("rows")) BOOST_TEST(row.at("precision") == "single");
  BOOST_TEST(json.at("missing").empty());

  const Outcome wanted = bench(file, {"--trans", "nn,tn", "--precision", "single"});
  BOOST_TEST(wanted.status == 3);
  BOOST_TEST(Json::parse(wanted.out).at("rows").size() == 2U);
  BOOST_TEST(contains(wanted.err, "clbake bench gemm: left out: changed.clbake: single tn: "), wanted.err);

  const Outcome compared = bench(baked_bundle(), {"--against", file});
  BOOST_TEST(json_of(compared).at("rows").size() == 2U);
  BOOST_TEST(contains(compared.err, "changed.clbake: double nn: ") == has_double(), compared.err);

  check_refused(bench(file, {"--precision", "double"}), 1, {"nothing to measure", "changed.clbake: double nn: "});
}

BOOST_AUTO_TEST_CASE(ABundleThatCannotBeAPeerIsNamed) {
  const Directory directory;
  check_refused(clbake({"bench", "gemm", baked_bundle(), "--against", directory.path("none.clbake")}), 1,
                {"clbake bench gemm: --against", "none.clbake"});
  cache::Contents contents = baked_contents();
  contents.profiles.clear();
  const std::string file = directory.write("blank.clbake", encoded(contents));
  check_refused(clbake({"bench", "gemm", baked_bundle(), "--against", file, "--sizes", "8"}), 1,
                {"blank.clbake", "no profile"});
}

BOOST_AUTO_TEST_CASE(AnEpilogueIsRunAndChecked) {
  const std::string& file = baked_bundle();
  for (const char* activation : {"none", "relu", "clamp", "sigmoid", "silu", "gelu", "gelu_tanh"}) {
    const Json json = json_of(clbake(
        run_arguments(file, {"--activation", activation, "--bias", "column", "--d", "--beta", "0.5", "--json"})));
    BOOST_TEST(json.at("activation") == activation);
    BOOST_TEST(json.at("ok") == true, activation);
  }
  check_refused(clbake(run_arguments(file, {"--activation", "tanh"})), 2, {"--activation", "'tanh'", "gelu_tanh"});
  check_refused(clbake(run_arguments(file, {"--bias", "both"})), 2, {"--bias", "'both'", "row", "column"});
}

}  // namespace clbake::tool::test
