// `clbake build --programs` and the other verbs on what it makes.
#include "command.hpp"

#include <algorithm>
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

// An application whose programs are baked once for all tests, with what the build said. The bundle says that all are
// JIT-free: a driver that compiles at every load would have them baked again.
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

// True when device 0 is PoCL's.
bool on_pocl() {
  static const nlohmann::json devices = json_of(clbake({"devices", "--json"}));
  return devices["devices"][0]["target"]["platform_name"] == "Portable Computing Language";
}

// Inputs that stand each for a kind of program. `cause`: why it is left out; empty where it is baked.
struct Case {
  std::string name, source, program, cause;  // program: the fields behind "source"
};

std::string kernel_of(const std::string& name, const std::string& sizes, const std::string& trials) {
  return R"("kernels": [{"name": ")" + name + R"(", "work_group_sizes": )" + sizes + R"(, "trials": [)" + trials +
         "]}]";
}
std::string trial_of(const std::string& arguments, const std::string& global = "[64]", const std::string& more = {}) {
  return R"({"global": )" + global + more + R"(, "arguments": [)" + arguments + "]}";
}

std::vector<Case> kinds_of_programs() {
  const std::string ints = R"({"buffer": "int", "count": 64})", floats = R"({"buffer": "float", "count": 64})";
  const std::string picture = R"({"image": "2d", "order": "RGBA", "type": "FLOAT", "width": 16, "height": 16})";
  const std::string simple = "kernel void f(global int* x) { x[get_global_id(0)] += 1; }\n";
  const std::string three =
      "typedef struct { float a, b, c; } three;\n"
      "kernel void f(global float* x, three t) { x[get_global_id(0)] *= t.a + t.b + t.c; }\n";
  const std::string includes = "kernel void f(global int* x) { x[get_global_id(0)] = helper(x[get_global_id(0)]); }\n";
  const auto f = [](const std::string& sizes, const std::string& trials) { return kernel_of("f", sizes, trials); };
  return {
      {"images",
       "kernel void f(read_only image2d_t in, sampler_t s, write_only image2d_t out) {\n"
       "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
       "  write_imagef(out, at, 1.0f - read_imagef(in, s, at));\n}\n",
       f("[[8, 8], null]",
         trial_of(picture + R"(, {"sampler": {"normalized": false, "addressing": "CLAMP", "filter": "NEAREST"}}, )" +
                      picture,
                  "[16, 16]")),
       ""},
      {"null",  // as a user writes it, and as it is recorded
       "kernel void f(global int* x, global int* a, global int* b, global int* c) { x[0] = !a && !b && !c; }\n",
       f("[[64]]", trial_of(ints + R"(, {"buffer": null}, {"local": 8}, {"bytes": "0000000000000000"})")), ""},
      {"struct", three, f("[[64]]", trial_of(floats + R"(, {"bytes": "0000803f0000004000004040"})")), ""},
      {"struct-size", three, f("[[64]]", trial_of(floats + R"(, {"scalar": "float", "value": 1})")),
       "argument 1 (three t) of the kernel has 12 bytes, and the trial gives 4 (float)"},
      {"any-order", "kernel void f(global uint* n, global uint* list) { list[atomic_inc(n)] = get_global_id(0); }\n",
       f("[[64]]", trial_of(R"({"buffer": "uint", "count": 1, "fill": 0},
                               {"buffer": "uint", "count": 8192, "fill": 0, "order": "any"})",
                            "[8192]")),
       ""},
      {"byte-order-mark", "\xEF\xBB\xBF// \xC3\xBC\n" + simple, f("[[64]]", trial_of(ints)), ""},
      {"required-size", "kernel __attribute__((reqd_work_group_size(32, 1, 1))) void f(global int* x) {}\n",
       f("[[64]]", trial_of(ints)),
       "kernel f, work-group size 64x1x1: the kernel requires the work-group size 32x1x1 (reqd_work_group_size)"},
      {"macro-include", "#define STR(x) #x\n#define QUOTE(x) STR(x)\n#include QUOTE(FOLDER/helper.h)\n" + includes,
       R"("options": "-DFOLDER=inc", )" + f("[[64]]", trial_of(ints)), ""},
      {"folder-option", "#include \"helper.h\"\n" + includes, R"("options": "-I inc", )" + f("[[64]]", trial_of(ints)),
       ""},
      {"quoted-options", "kernel void f(global int* x) { x[get_global_id(0)] = PLUS(1, 2) + sizeof(NAME); }\n",
       R"("options": "-D 'PLUS(a,b)=((a) + (b))' -DNAME=\\\"abc\\\"", )" + f("[[64]]", trial_of(ints)), ""},
      {"vectors", "kernel void f(global int4* x, global half* h) { x[get_global_id(0)] += (int4)vload_half(0, h); }\n",
       f("[[64]]", trial_of(R"({"buffer": "int4", "count": 64}, {"buffer": "half", "count": 4})")), ""},
      {"other-sizes", simple, f("[]", trial_of(ints, "[32]", R"(, "local": [16], "offset": [16])")), ""},
      {"no-multiple", simple, f("[[48]]", trial_of(ints)),
       "the global size 64x1x1 is no multiple of it, which this driver refuses"},
      {"wrong-count", simple, f("[[64]]", trial_of(ints + ", " + ints)),
       "the kernel takes 1 argument (int* x), and the trial gives 2"},
      {"untried", simple + "kernel void g(global int* x) {}\nkernel void h(global int* x) {}\n",
       R"("kernels": [{"name": "f", "work_group_sizes": [[64]], "trials": [)" + trial_of(ints) +
           R"(]}, {"name": "g", "work_group_sizes": [], "trials": []}])",
       ""},
  };
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(ProgramsAreBakedShownMergedAndEmbedded, Baked) {
  BOOST_TEST(report()["baked"] == 2);
  BOOST_TEST(report()["failed"] == 0);
  if (on_pocl()) BOOST_TEST(report()["not_jit_free"] == 0);
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
  BOOST_TEST(contains(checked.out, "as machine code"), checked.out);
  cache::Contents contents = contents_of(bundle);
  contents.entries.erase(contents.entries.begin());  // of "thrice"
  contents.entries[0].proof = {};
  write_bundle(path("less.clbake"), contents);
  checked = clbake({"check", path("less.clbake"), "--require", "proven"});
  BOOST_TEST(checked.status == 3);
  BOOST_TEST(contains(checked.out, "compiled from source (no entry)"), checked.out);
  BOOST_TEST(contains(checked.out, "not for this target: compiled from source"), checked.out);
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

BOOST_FIXTURE_TEST_CASE(AFolderStandsForItsManifest, Baked) {
  const nlohmann::json again =
      json_of(clbake({"build", "--programs", path("."), "-o", bundle, "--device", "0", "--json"}));
  BOOST_TEST(again["reused"] == 2);
}

BOOST_AUTO_TEST_CASE(ABadManifestIsNamedWithItsField) {
  const Application app;
  app.write("bad.json", std::string("{\"version\": 2, \"programs\": [{}]}"));
  check_refused(clbake({"build", "--programs", app.path("bad.json"), "-o", app.path("x")}), 1,
                {"bad.json: programs[0].kernels: is missing"});
  BOOST_TEST(!std::filesystem::exists(app.path("x")));
}

BOOST_AUTO_TEST_CASE(EachKindOfProgramIsBakedOrToldWhyNot, *boost::unit_test::label("slow")) {
  baked_bundle();  // or skipped
  const Directory directory;
  std::filesystem::create_directory(directory.path("inc"));
  directory.write("inc/helper.h", std::string("int helper(int v) { return v + 1; }\n"));
  std::string programs;
  for (const Case& one : kinds_of_programs()) {
    directory.write(one.name + ".cl", one.source);
    programs += (programs.empty() ? "" : ",\n") + (R"({"name": ")" + one.name + R"(", "source": ")" + one.name) +
                R"(.cl", )" + one.program + "}";
  }
  directory.write("programs.json", R"({"version": 2, "programs": [)" + programs + "]}");
  const std::string bundle = directory.path("x.clbake");
  const Outcome built =
      clbake({"build", "--device", "0", "--programs", directory.path("programs.json"), "-o", bundle, "--json"});
  const nlohmann::json report = nlohmann::json::parse(built.out);
  for (const Case& one : kinds_of_programs()) {
    const auto job = std::find_if(report["jobs"].begin(), report["jobs"].end(),
                                  [&](const nlohmann::json& each) { return each["variant"] == one.name; });
    BOOST_REQUIRE_MESSAGE(job != report["jobs"].end(), one.name << " has no job");
    const nlohmann::json why = job->value("cause", nlohmann::json());
    const std::string cause = why.is_string() ? why.get<std::string>() : std::string();
    BOOST_TEST(cause.empty() == one.cause.empty(), one.name + ": " + cause);
    if (on_pocl()) BOOST_TEST(contains(cause, one.cause), one.name + ": " + cause);  // others tell less
  }
  BOOST_TEST(report["jobs"].size() == kinds_of_programs().size());
  if (on_pocl()) BOOST_TEST(report["not_jit_free"] == 0, report["remarks"].dump());

  BOOST_TEST(contains(report["remarks"].dump(), "untried: kernel g"), report["remarks"].dump());
  BOOST_TEST(contains(report["remarks"].dump(), "not listed, and so not tried: kernel h"), report["remarks"].dump());
  const std::string shown = clbake({"inspect", bundle}).out;
  BOOST_TEST(contains(shown, "own program untried: untried: kernel g\n"), shown);
  BOOST_TEST(contains(shown, "own program untried: not listed: kernel h\n"), shown);
  const Outcome tried = clbake({"check", bundle, "--require", "proven,tried"});
  BOOST_TEST(tried.status == 3);
  BOOST_TEST(contains(tried.out, "not tried"), tried.out);
  BOOST_TEST(contains(tried.out, "why       untried: no trial launches kernel g\n"), tried.out);
  const Outcome listed = clbake({"check", bundle, "--require", "listed"});
  BOOST_TEST(contains(listed.out, "why       untried: the manifest does not list kernel h\n"), listed.out);
  if (on_pocl()) BOOST_TEST(clbake({"check", bundle, "--require", "jit-free"}).status == 0);
}

BOOST_FIXTURE_TEST_CASE(AProgramWithoutTrialsIsLoadedAndNotProven, Application) {
  baked_bundle();  // or skipped
  write("programs.json", R"({"version": 2, "programs": [{"source": "kernels/twice.cl", "options": "-DFACTOR=2",
                             "kernels": [{"name": "multiply", "work_group_sizes": [[32]], "trials": []}]}]})");
  const nlohmann::json report = json_of(build({"--json"}));
  BOOST_TEST(report["not_tried"] == 1);
  BOOST_TEST(report["not_proven"] == 0);
  const nlohmann::json proved = json_of(clbake({"prove", bundle, "--device", "0", "--json"}));
  BOOST_TEST(proved["proven"] == 0);
  BOOST_TEST(proved["jobs"][0]["outcome"] == "loaded");

  // Without a name it has one of 64 digits, which only programs read whole.
  const std::string name = json_of(clbake({"inspect", bundle, "--json"}))["entries"][0]["variant"];
  for (const Arguments& shown : {Arguments{"inspect", bundle, "--entries"}, Arguments{"check", bundle, "--all"}}) {
    const std::string text = clbake(shown).out;
    BOOST_TEST(contains(text, name.substr(0, 20)), text);
    BOOST_TEST(!contains(text, name), text);
  }
}

BOOST_AUTO_TEST_CASE(AManifestIsBegunAndBaked) {
  baked_bundle();  // or skipped
  const Directory directory;
  directory.write(
      "app.cl",
      std::string("kernel void f(global float* x, int n) { if (get_global_id(0) < n) x[get_global_id(0)] = n; }\n"));
  const std::string manifest = directory.path("programs.json");
  const Outcome begun = clbake({"programs", "init", directory.path("app.cl"), "-o", manifest});
  BOOST_TEST(begun.status == 0, begun.err);
  const Outcome built = clbake({"build", "--device", "0", "--programs", manifest, "-o", directory.path("x.clbake")});
  BOOST_TEST(built.status == 0, built.err);
  check_refused(clbake({"programs", "init", directory.path("app.cl"), "-o", manifest}), 1,
                {"exists; it stays as it is"});
  check_refused(clbake({"programs", "init", directory.path("none.cl")}), 1, {"none.cl: " + no_such_file()});
}

}  // namespace clbake::tool::test
