// `clbake build --programs` and the other verbs on what it makes.
#include "command.hpp"

#include <filesystem>

namespace clbake::tool::test {
namespace {

constexpr const char* kManifest = R"({
  "version": 2,
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
  const std::string bundle = path("app.clbake");

  Application() {
    std::filesystem::create_directory(path("kernels"));
    write("kernels/real.h", "#define REAL float\n");
    write("kernels/twice.cl",
          "#include \"real.h\"\nkernel void multiply(global REAL* x) { x[get_global_id(0)] *= FACTOR; }\n");
    write("programs.json", kManifest);
  }

  Outcome build(const Arguments& more = {}) const {
    return clbake(Arguments{"build", "--device", "0", "--programs", path("programs.json"), "-o", bundle} + more);
  }
};

// An application whose programs are baked once for all tests, with what the build said. A loaded machine may keep a
// proof from finding that nothing was compiled, which would rightly be proven again: the bundle says that all are
// JIT-free.
struct Baked : Application {
  static const nlohmann::json& report() { return files().report; }

  Baked() { std::filesystem::copy_file(files().bundle, bundle); }

 private:
  struct Files : Application {
    nlohmann::json report;
    Files() {
      baked_bundle();  // or skipped
      report = json_of(build({"--json"}));
      cache::Contents contents = contents_of(bundle);
      for (cache::Entry& entry : contents.entries) entry.proof.jit_free = true;
      write_bundle(bundle, contents);
    }
  };
  static const Files& files() {
    static const Files once;
    return once;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ProgramsAreBakedShownMergedAndEmbedded, Baked) {
  BOOST_TEST(report()["baked"] == 2);
  BOOST_TEST(report()["failed"] == 0);
  BOOST_TEST(report()["profiles"].empty());

  const Outcome text = clbake({"inspect", bundle, "--entries"});
  BOOST_TEST(text.status == 0);
  BOOST_TEST(contains(text.out, "own program twice: kernels and work-group sizes multiply 32, 16\n"), text.out);
  const nlohmann::json shown = json_of(clbake({"inspect", bundle, "--json"}));
  BOOST_TEST(shown["variants"] == 2);
  BOOST_TEST(shown["entries"][0]["family"] == "program");
  BOOST_TEST(shown["entries"][0]["precision"] == "none");
  BOOST_TEST(shown["entries"][0]["proven"] == true);
  BOOST_TEST(shown["entries"][0]["kernels"][0]["name"] == "multiply");

  const Outcome merged = clbake({"merge", bundle, baked_bundle(), "-o", path("all.clbake")});
  BOOST_TEST(merged.status == 0, merged.err);
  BOOST_TEST(contains(clbake({"inspect", path("all.clbake")}).out, "own program thrice: "));
  BOOST_TEST(clbake({"run", path("all.clbake"), "--m", "8", "--n", "8", "--k", "8"}).status == 0);
  BOOST_TEST(contains(clbake({"diff", bundle, path("all.clbake")}).out, "variants"));
}

BOOST_FIXTURE_TEST_CASE(GemmOnABundleOfProgramsIsANamedError, Baked) {
  check_refused(clbake({"run", bundle, "--m", "8", "--n", "8", "--k", "8"}), 1, {"products (GEMM)"});
  const std::string shapes = write("shapes.txt", std::string("single nn 8x8x8\n"));
  const Outcome checked = clbake({"check", bundle, "--shapes", shapes});
  BOOST_TEST(checked.status == 3);
  BOOST_TEST(contains(checked.out, "nothing serves"), checked.out);
}

BOOST_FIXTURE_TEST_CASE(ProgramsAreChecked, Baked) {
  Outcome checked = clbake({"check", bundle, "--require", "proven"});
  BOOST_TEST(checked.status == 0, checked.out);
  BOOST_TEST(contains(checked.out, "2 programs on 1 target: 2 of 2 are served"), checked.out);
  cache::Contents contents = contents_of(bundle);
  contents.entries.erase(contents.entries.begin());  // of "thrice"
  contents.entries[0].proof = {};
  write_bundle(path("less.clbake"), contents);
  checked = clbake({"check", path("less.clbake"), "--require", "proven"});
  BOOST_TEST(checked.status == 3);
  BOOST_TEST(contains(checked.out, "compiled from source (no entry)"), checked.out);
  BOOST_TEST(contains(checked.out, "examples  thrice\n"), checked.out);
  BOOST_TEST(contains(checked.out, "why       twice was never proven on a device\n"), checked.out);
  const nlohmann::json less = nlohmann::json::parse(clbake({"check", path("less.clbake"), "--json"}).out);
  BOOST_TEST(less["missing"] == 1);
  BOOST_TEST(less["rows"][0]["program"] == "thrice");
  BOOST_TEST(clbake({"check", bundle, "--junit", path("junit.xml")}).status == 0);
  BOOST_TEST(contains(read_file(path("junit.xml")), "name=\"program twice\"/>"));
}

BOOST_FIXTURE_TEST_CASE(OnlyWhatIsNewOrChangedIsBaked, Baked) {
  const nlohmann::json with_gemm = json_of(build({"--variant", "direct-s-nn-1x1x1-1x1x1-v1", "--json"}));
  BOOST_TEST(with_gemm["reused"] == 2);
  BOOST_TEST(with_gemm["baked"] == 1);
  write("kernels/real.h", std::string("#define REAL float\n#define MORE 1\n"));
  const nlohmann::json changed = json_of(build({"--json"}));
  BOOST_TEST(changed["reused"] == 0);
  BOOST_TEST(changed["baked"] == 2);
}

BOOST_AUTO_TEST_CASE(ABadManifestIsNamedWithItsField) {
  const Application app;
  app.write("bad.json", std::string("{\"version\": 2, \"programs\": [{}]}"));
  check_refused(clbake({"build", "--programs", app.path("bad.json"), "-o", app.path("x")}), 1,
                {"bad.json: programs[0].kernels: is missing"});
  BOOST_TEST(!std::filesystem::exists(app.path("x")));
}

}  // namespace clbake::tool::test
