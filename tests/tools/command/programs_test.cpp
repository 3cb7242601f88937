// `clbake build --programs` and the other verbs on what it makes.
#include "command.hpp"

#include <filesystem>

namespace clbake::tool::test {
namespace {

constexpr const char* kManifest = R"({
  "version": 1,
  "programs": [
    {"name": "twice", "source": "kernels/twice.cl", "options": "-DFACTOR=2",
     "kernels": [{"name": "multiply", "work_group_sizes": [[32], [16]],
                  "trials": [{"global": [64], "arguments": [{"buffer": "float", "count": 64}]}]}]},
    {"name": "thrice", "source": "kernels/twice.cl", "options": "-DFACTOR=3",
     "kernels": [{"name": "multiply", "work_group_sizes": [[32]],
                  "trials": [{"global": [64], "arguments": [{"buffer": "float", "count": 64}]}]}]}
  ]
})";

// The files of an application with two programs of one source.
struct Application : Directory {
  Application() {
    std::filesystem::create_directory(path("kernels"));
    write("kernels/real.h", "#define REAL float\n");
    write("kernels/twice.cl",
          "#include \"real.h\"\nkernel void multiply(global REAL* x) { x[get_global_id(0)] *= FACTOR; }\n");
    write("programs.json", kManifest);
  }

  Outcome build(const Arguments& more = {}) const {
    Arguments arguments = {"build", "--device", "0", "--programs", path("programs.json"), "-o", path("app.clbake")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return clbake(arguments);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(ProgramsAreBakedShownMergedAndEmbedded) {
  baked_bundle();  // or skipped
  const Application app;
  const nlohmann::json report = json_of(app.build({"--json"}));
  BOOST_TEST(report["baked"] == 2);
  BOOST_TEST(report["failed"] == 0);
  BOOST_TEST(report["profiles"].empty());

  const Outcome text = clbake({"inspect", app.path("app.clbake"), "--entries"});
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, "own program   twice: kernels and work-group sizes multiply 32, 16\n"), text.out);
  const nlohmann::json shown = json_of(clbake({"inspect", app.path("app.clbake"), "--json"}));
  BOOST_TEST(shown["variants"] == 2);
  BOOST_TEST(shown["entries"][0]["family"] == "program");
  BOOST_TEST(shown["entries"][0]["precision"] == "none");
  BOOST_TEST(shown["entries"][0]["proven"] == true);
  BOOST_TEST(shown["entries"][0]["kernels"][0]["name"] == "multiply");
  const nlohmann::json summary = json_of(clbake({"inspect", app.path("app.clbake"), "--summary", "--json"}));
  BOOST_TEST(summary["programs"] >= 2);
  BOOST_TEST(clbake({"verify", app.path("app.clbake")}).status == 0);

  const Outcome merged = clbake({"merge", app.path("app.clbake"), baked_bundle(), "-o", app.path("all.clbake")});
  BOOST_TEST(merged.status == 0, merged.err);
  BOOST_TEST(contains(clbake({"inspect", app.path("all.clbake")}).out, "own program   thrice: "));
  BOOST_TEST(clbake({"run", app.path("all.clbake"), "--m", "8", "--n", "8", "--k", "8"}).status == 0);
  BOOST_TEST(clbake({"embed", app.path("app.clbake"), "-o", app.path("app.h")}).status == 0);
  BOOST_TEST(contains(clbake({"diff", app.path("app.clbake"), app.path("all.clbake")}).out, "variants"));
}

BOOST_AUTO_TEST_CASE(GemmOnABundleOfProgramsIsANamedError) {
  baked_bundle();
  const Application app;
  BOOST_TEST(app.build().status == 0);
  check_refused(clbake({"run", app.path("app.clbake"), "--m", "8", "--n", "8", "--k", "8"}), 1, {"products (GEMM)"});
  const std::string shapes = app.write("shapes.txt", std::string("single nn 8x8x8\n"));
  const Outcome checked = clbake({"check", app.path("app.clbake"), "--shapes", shapes});
  BOOST_TEST(checked.status == 3);
  BOOST_TEST(contains(checked.out, "nothing serves"), checked.out);
}

BOOST_AUTO_TEST_CASE(ProgramsAreChecked) {
  baked_bundle();
  const Application app;
  BOOST_TEST(app.build().status == 0);
  Outcome checked = clbake({"check", app.path("app.clbake"), "--require", "proven"});
  BOOST_TEST(checked.status == 0, checked.out);
  BOOST_TEST(contains(checked.out, "2 programs on 1 target: 2 of 2 are served"), checked.out);
  cache::Contents contents = contents_of(app.path("app.clbake"));
  contents.entries.erase(contents.entries.begin());  // of "thrice"
  contents.entries[0].proof = {};
  write_bundle(app.path("less.clbake"), contents);
  checked = clbake({"check", app.path("less.clbake"), "--require", "proven"});
  BOOST_TEST(checked.status == 3);
  BOOST_TEST(contains(checked.out, "program thrice: compiled from source"), checked.out);
  BOOST_TEST(contains(checked.out, "program twice: not proven"), checked.out);
  const Outcome json = clbake({"check", app.path("less.clbake"), "--json"});
  const nlohmann::json report = nlohmann::json::parse(json.out);
  BOOST_TEST(report["missing"] == 1);
  BOOST_TEST(report["own_programs"][0]["program"] == "thrice");
  BOOST_TEST(clbake({"check", app.path("app.clbake"), "--junit", app.path("junit.xml")}).status == 0);
  BOOST_TEST(contains(read_file(app.path("junit.xml")), "name=\"program twice\"/>"));
}

// What the author of a program has to know stands in the text and in the JSON; the program is in the bundle.
BOOST_AUTO_TEST_CASE(WhatAProgramLacksIsARemark) {
  baked_bundle();
  const Application app;
  app.write("kernels/twice.cl", std::string("kernel void multiply(global float* x) { x[get_global_id(0)] *= FACTOR; }\n"
                                            "kernel void untold(global float* x) { x[0] = 1; }\n"));
  const std::string line = "program twice: kernels that the manifest does not list: untold; they are not tried, and";
  const Outcome text = app.build();
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, "\n" + line), text.out);
  const nlohmann::json again = json_of(app.build({"--json"}));
  BOOST_TEST(again["reused"] == 2);
  bool found = false;
  for (const nlohmann::json& remark : again["remarks"]) found = found || contains(remark.get<std::string>(), line);
  BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(AChangedIncludeIsBakedAgain) {
  baked_bundle();
  const Application app;
  BOOST_TEST(json_of(app.build({"--json"}))["baked"] == 2);
  BOOST_TEST(json_of(app.build({"--json"}))["reused"] == 2);
  app.write("kernels/real.h", std::string("#define REAL float\n#define MORE 1\n"));
  const nlohmann::json other = json_of(app.build({"--json"}));
  BOOST_TEST(other["reused"] == 0);
  BOOST_TEST(other["baked"] == 2);
}

BOOST_AUTO_TEST_CASE(BadManifestsAreOneLine) {
  const Application app;
  check_refused(clbake({"build", "--programs", app.path("none.json"), "-o", app.path("x")}), 1,
                {"none.json: No such file"});
  const std::string bad = app.write("bad.json", std::string("{\"version\": 1, \"programs\": [{}]}"));
  check_refused(clbake({"build", "--programs", bad, "-o", app.path("x")}), 1,
                {"bad.json: programs[0].name: is missing"});
  const std::string cut = app.write("cut.json", std::string("{\"version\": 1,\n"));
  check_refused(clbake({"build", "--programs", cut, "-o", app.path("x")}), 1, {"cut.json: line 2", "ends too early"});
  BOOST_TEST(!std::filesystem::exists(app.path("x")));
}

BOOST_AUTO_TEST_CASE(WithOptionsForGemmBothAreBaked) {
  baked_bundle();
  const Application app;
  const nlohmann::json report = json_of(app.build({"--variant", "direct-s-nn-1x1x1-1x1x1-v1", "--json"}));
  BOOST_TEST(report["baked"] == 3);
}

}  // namespace clbake::tool::test
