// `clbake capture` of recordings of programs, from journals as the layer writes them. Needs no OpenCL device.
#include "command.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <filesystem>

namespace clbake::tool::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kProgram = R"({"program":{"source":"sources/a.cl","options":"-DA"},"id":"1","kernels":"f;g"})";
constexpr const char* kKernel = R"({"id":"1","kernel":"f"})";

std::string size_line(const std::string& size) { return R"({"id":"1","kernel":"f","size":)" + size + "}"; }

std::string trial_line(const std::string& global, const std::string& content) {
  return R"({"id":"1","kernel":"f","trial":{"global":[)" + global +
         R"(,1,1],"local":[64,1,1],"arguments":[{"buffer":"float","count":64,)" + content + "}]}}";
}

struct Scene {
  Directory directory;

  // A recording's directory with one journal.
  std::string recording(const std::string& name, const std::vector<std::string>& lines,
                        const std::string& source = "kernel") const {
    const std::string folder = directory.path(name);
    fs::create_directories(folder + "/sources");
    fs::create_directories(folder + "/data");
    directory.write(name + "/sources/a.cl", source);
    directory.write(name + "/data/d.bin", std::string(256, 'd'));
    std::string text = "{\"clbake_recording\":1}\n";
    for (const std::string& line : lines) text += line + "\n";
    directory.write(name + "/process-1-0.jsonl", text);
    return folder;
  }
  std::string output() const { return directory.path("out"); }
  Json manifest() const { return Json::parse(read_file(output() + "/programs.json")); }
  Json kernel() const { return manifest()["programs"][0]["kernels"][0]; }

  void capture(const Arguments& folders) const {
    const Outcome outcome = clbake(Arguments{"capture"} + folders + Arguments{"-o", output()});
    BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(EqualProgramsOfSeveralRecordingsAreOneWithTheSizesOfAll) {
  const Scene scene;
  const std::string first = scene.recording("first", {kProgram, kKernel, size_line("[64,1,1]")});
  const std::string second = scene.recording("second", {kProgram, kKernel, size_line("null"), size_line("[64,1,1]")});
  scene.capture({first, second});
  BOOST_TEST(scene.manifest()["version"] == 2);
  BOOST_TEST(scene.manifest()["programs"].size() == 1U);
  BOOST_TEST(scene.kernel()["work_group_sizes"] == Json::parse("[[64,1,1],null]"));
  BOOST_TEST(read_file(scene.output() + "/sources/a.cl") == "kernel");
}

BOOST_AUTO_TEST_CASE(OfOneKindOfLaunchOneTrialStaysAndRatherAWholeOne) {
  const Scene scene;
  const std::string cut = R"("file":"data/d.bin","truncated":true)", whole = R"("file":"data/d.bin")";
  scene.capture({scene.recording("in", {kProgram, kKernel, trial_line("64", cut), trial_line("128", whole),
                                        trial_line("256", whole), trial_line("65536", cut)})});
  const Json trials = scene.kernel()["trials"];
  BOOST_TEST_REQUIRE(trials.size() == 2U);
  BOOST_TEST(trials[0]["global"][0] == 128);
  BOOST_TEST(trials[1]["global"][0] == 65536);
}

BOOST_AUTO_TEST_CASE(ALineThatAKillCutOffDoesNotCount) {
  const Scene scene;
  const std::string folder = scene.recording("in", {kProgram, kKernel});
  scene.directory.write("in/process-1-0.jsonl",
                        read_file(folder + "/process-1-0.jsonl") + size_line("[64,1,1]").substr(0, 20));
  scene.capture({folder});
  BOOST_TEST(scene.kernel()["work_group_sizes"] == Json::array());
}

BOOST_AUTO_TEST_CASE(ADirectoryThatIsCapturedAgainStaysAsItIs) {
  const Scene scene;
  const std::string folder =
      scene.recording("out", {kProgram, kKernel, size_line("[64,1,1]"), trial_line("64", R"("fill":0)")});
  scene.capture({folder});
  const std::string manifest = read_file(folder + "/programs.json");
  BOOST_TEST(!fs::exists(folder + "/process-1-0.jsonl"));
  scene.capture({folder});
  BOOST_TEST(read_file(folder + "/programs.json") == manifest);
}

BOOST_AUTO_TEST_CASE(AJournalThatAProcessStillWritesStays) {
  const Scene scene;
  const std::string folder = scene.recording("out", {kProgram, kKernel}), journal = folder + "/process-1-0.jsonl";
  const int writer = ::open(journal.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  BOOST_TEST_REQUIRE(::flock(writer, LOCK_SH) == 0);
  scene.capture({folder});
  BOOST_TEST(fs::exists(journal));
  ::close(writer);
  scene.capture({folder});
  BOOST_TEST(!fs::exists(journal));
}

BOOST_AUTO_TEST_CASE(KernelsOfAProgramThatWasOnlyBuiltAreThoseOfTheDriver) {
  const Scene scene;
  scene.capture({scene.recording("in", {kProgram})});
  BOOST_TEST(scene.manifest()["programs"][0]["kernels"].size() == 2U);
}

// A full disk leaves half a line, and the lines behind it count.
BOOST_AUTO_TEST_CASE(BadLinesOfAJournalAreLeftOutAndCounted) {
  const Scene scene;
  const Json summary = json_of(clbake(
      {"capture",
       scene.recording("in", {kProgram, "{\"id\":", R"({"id":"2","kernel":"unknown"})", R"({"id":"1","kernel":1})",
                              R"({"id":"1","kernel":"f","trial":{}})", size_line("[64,1,1]")}),
       "-o", scene.output(), "--json"}));
  BOOST_TEST(contains(summary["notes"].dump(), "4 lines not as a recording has them"), summary.dump());
  BOOST_TEST(scene.kernel()["work_group_sizes"] == Json::parse("[[64,1,1]]"));
}

// A recording may come from anybody.
BOOST_AUTO_TEST_CASE(NamesAndLinksThatLeadElsewhereReachNoFile) {
  const Scene scene;
  const std::string victim = scene.directory.path("victim.cl"), file = "\"file\":\"";
  scene.directory.write("victim.cl", std::string("mine"));
  for (const std::string& name : {victim, std::string("../victim.cl"), std::string("data/../../victim.cl"),
                                  std::string("data/link.bin"), std::string("data/1.bin")}) {
    const std::string in = scene.recording("in", {kProgram, kKernel, trial_line("64", file + name + "\"")});
    fs::remove(in + "/data/1.bin");
    fs::create_symlink(victim, in + "/data/1.bin");
    const Outcome outcome = clbake({"capture", in, "-o", scene.output()});
    BOOST_TEST(contains(outcome.out, "1 line not as a recording has them"), name << outcome.out << outcome.err);
    BOOST_TEST(scene.kernel()["trials"] == Json::array(), name);
    BOOST_TEST(read_file(victim) == "mine");
    Json manifest = scene.manifest();
    manifest["programs"][0]["source"] = name;
    scene.directory.write("in/programs.json", manifest.dump());
    check_refused(clbake({"capture", in, "-o", scene.output()}), 1, {"in/programs.json"});
    fs::remove_all(in);
  }
}

BOOST_AUTO_TEST_CASE(ALinkInTheOutputIsReplacedAndNotFollowed) {
  const Scene scene;
  scene.directory.write("victim", std::string("mine"));
  fs::create_directories(scene.output() + "/sources");
  fs::create_symlink(scene.directory.path("victim"), scene.output() + "/sources/a.cl");
  scene.capture({scene.recording("in", {kProgram, kKernel})});
  BOOST_TEST(read_file(scene.directory.path("victim")) == "mine");
  BOOST_TEST(read_file(scene.output() + "/sources/a.cl") == "kernel");
}

// `build --programs` would refuse the whole manifest.
BOOST_AUTO_TEST_CASE(AnOddLaunchIsUntriedAndTheRestStays) {
  const Scene scene;
  std::vector<std::string> lines = {kProgram, kKernel, trial_line("4294967296", R"("fill":0)"),
                                    trial_line("64", R"("fill":0)"), R"({"id":"1","kernel":"no name"})"};
  for (int i = 1; i <= 300; ++i) lines.push_back(size_line("[" + std::to_string(i) + "]"));
  const Json summary = json_of(clbake({"capture", scene.recording("in", lines), "-o", scene.output(), "--json"}));
  BOOST_TEST(scene.kernel()["trials"].size() == 1U);
  BOOST_TEST(scene.kernel()["work_group_sizes"].size() == 300U);
  BOOST_TEST(scene.manifest()["programs"][0]["kernels"].size() == 1U);
  BOOST_TEST(contains(summary["untried"].dump(), "global[0]"), summary.dump());
  BOOST_TEST(contains(summary["notes"].dump(), "kernel no name is left out"), summary.dump());
}

BOOST_AUTO_TEST_CASE(AFileThatNoTrialNeedsIsNotCopied) {
  const Scene scene;
  scene.capture({scene.recording("in", {kProgram, kKernel, trial_line("64", R"("file":"data/d.bin","truncated":true)"),
                                        trial_line("64", R"("fill":0)")})});
  BOOST_TEST(fs::exists(scene.output() + "/sources/a.cl"));
  BOOST_TEST(!fs::exists(scene.output() + "/data/d.bin"));
}

BOOST_AUTO_TEST_CASE(AJournalGoesOnInAnotherFile) {
  const Scene scene;
  const std::string in = scene.recording("in", {kProgram, kKernel});
  scene.directory.write("in/process-1-1.jsonl", size_line("[64,1,1]") + "\n");
  scene.capture({in});
  BOOST_TEST(scene.kernel()["work_group_sizes"] == Json::parse("[[64,1,1]]"));
}

BOOST_AUTO_TEST_CASE(WhatIsNoRecordingIsNamedAndNothingIsWritten) {
  const Scene scene;
  const std::string good = scene.recording("good", {kProgram, kKernel});
  const std::string unknown = scene.recording("unknown", {kKernel});
  const std::string other = scene.recording("other", {kProgram, kKernel}, "another text under the same name");
  const std::string empty = scene.recording("empty", {R"({"note":"a program made from a binary"})"});
  const auto refuse = [&](const Arguments& folders, const std::vector<std::string>& parts) {
    check_refused(clbake(Arguments{"capture"} + folders + Arguments{"-o", scene.output()}), 1, parts);
  };
  refuse({unknown}, {"no OpenCL program was recorded; " + unknown + "/process-1-0.jsonl: 1 line"});
  refuse({good, other}, {other + "/sources/a.cl: differs from " + good + "/sources/a.cl"});
  refuse({empty}, {"no OpenCL program was recorded; a program made from a binary"});
  refuse({good, scene.directory.path("none")}, {"none: is no directory"});
  check_refused(clbake({"capture", good, "-o", scene.output(), "--top", "1"}), 2, {"--top"});
  BOOST_TEST(!fs::exists(scene.output()));
}

}  // namespace clbake::tool::test
