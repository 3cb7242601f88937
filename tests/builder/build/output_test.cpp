// Places where a bundle may be written, and failures where it may not.
#include "build_fixture.hpp"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <random>

namespace clbake::builder::test {
using namespace build;
namespace {

namespace fs = std::filesystem;

// Nothing was run, and what was there is as it was.
void check_refused(BuildFixture& fixture, const std::string& code, const std::string& cause) {
  const std::vector<std::string> before = fixture.files();
  const Result<BuildReport> report = fixture.build();
  BOOST_TEST(outcome(report) == code);
  BOOST_TEST(contains(report.status().message(), cause), report.status().message());
  BOOST_TEST(contains(report.status().message(), fixture.options.output), report.status().message());
  BOOST_TEST(fixture.calls().empty());
  BOOST_TEST((fixture.files() == before));
}

// A disk on which no file can grow beyond `bytes`, for this process and its children.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);  // a write fails instead, as on a full disk
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

bool is_partial_output(const std::string& file) {
  return file.rfind("gemm.clbake", 0) == 0 && file != "gemm.clbake.work";
}

}  // namespace

BOOST_AUTO_TEST_CASE(ADamagedBundleIsRebuilt) {
  BuildFixture fixture;
  BOOST_REQUIRE_EQUAL(outcome(fixture.build()), "ok");
  const std::string good = read_file(fixture.options.output);
  std::vector<std::string> damaged = {"", good.substr(0, good.size() / 2)};
  damaged.push_back(good);
  damaged.back()[good.size() / 2] = static_cast<char>(damaged.back()[good.size() / 2] ^ 4);
  for (const std::string& bytes : damaged) {
    write_file(fixture.options.output, bytes);
    BOOST_TEST(outcome(fixture.build()) == "ok");
    BOOST_TEST((read_file(fixture.options.output) == good));
  }
}

BOOST_AUTO_TEST_CASE(PlacesForNoBundleAreRefusedAndStayAsTheyAre) {
  BuildFixture fixture;
  const auto refused = [&](const std::string& output, const char* code, const char* cause) {
    fixture.options.output = output;
    check_refused(fixture, code, cause);
  };
  write_file(fixture.path("text"), "dear diary, today I baked nothing\n");
  refused(fixture.path("text"), "invalid argument", "is not a bundle");
  BOOST_TEST(read_file(fixture.path("text")) == "dear diary, today I baked nothing\n");
  refused(fixture.path("no/such/directory/gemm.clbake"), "input/output", "No such file or directory");
  refused(fixture.path("text/gemm.clbake"), "input/output", "Not a directory");
  fs::create_directory(fixture.path("directory"));
  refused(fixture.path("directory"), "invalid argument", "not a regular file");
  refused("/dev/null", "invalid argument", "not a regular file");
  write_file(fixture.path("a.work"), "mine");
  refused(fixture.path("a"), "input/output", ".work");
  BOOST_TEST(read_file(fixture.path("a.work")) == "mine");
  fs::create_directory(fixture.path("b.work"));
  write_file(fixture.path("b.work/thesis.txt"), "years of work");
  refused(fixture.path("b"), "input/output", "foreign file: thesis.txt");
  BOOST_TEST(read_file(fixture.path("b.work/thesis.txt")) == "years of work");
}

BOOST_AUTO_TEST_CASE(AnEmptyNameIsRefused) {
  const fs::path before = fs::current_path();
  BuildFixture fixture;
  fs::current_path(fixture.path(""));
  fixture.options.output.clear();
  check_refused(fixture, "invalid argument", "name");
  fs::current_path(before);
}

// Else that user would choose what goes into the bundle, and with what proof.
BOOST_AUTO_TEST_CASE(AWorkDirectoryOfAnotherUserIsRefused) {
  BuildFixture fixture;
  fs::create_directory(fixture.work_directory());
  if (::chown(fixture.work_directory().c_str(), 12345, 12345) != 0) {
    BOOST_TEST_MESSAGE("only root can give a directory to another user");
    return;
  }
  check_refused(fixture, "input/output", "belongs to another user");
}

BOOST_AUTO_TEST_CASE(ASecondBuildOfTheSameOutputIsRefused) {
  BuildFixture fixture;
  const std::atomic<bool> never{false};
  std::size_t refusals = 0;
  const std::vector<BakeList> bake_lists = required(bake_lists_for(fixture.options));
  const Result<BuildReport> report = build::build(fixture.options, bake_lists, never, [&](const Progress&) {
    const Result<BuildReport> second = build::build(fixture.options, bake_lists, never, {});
    BOOST_TEST(outcome(second) == "input/output");
    BOOST_TEST(contains(second.status().message(), "another build"), second.status().message());
    ++refusals;
  });
  BOOST_REQUIRE_EQUAL(outcome(report), "ok");
  BOOST_TEST(refusals == 2 * kVariants + 1);
}

// Room for every file of the work directory, not for the bundle.
BOOST_AUTO_TEST_CASE(AFullDiskWhilePackingKeepsTheWorkAndLeavesNoPartialOutput) {
  BuildFixture fixture;
  {
    const SmallDisk disk(130UL * 1024);
    const Result<BuildReport> report = fixture.build();
    BOOST_TEST(outcome(report) == "input/output");
    BOOST_TEST(contains(report.status().message(), fixture.options.output), report.status().message());
    BOOST_TEST(contains(report.status().message(), "File too large"), report.status().message());
  }
  for (const std::string& file : fixture.files()) BOOST_TEST(!is_partial_output(file), file);
  BOOST_TEST(outcome(fixture.build()) == "ok");
  BOOST_TEST(fixture.calls().empty());
  BOOST_TEST((fixture.files() == std::vector<std::string>{"gemm.clbake"}));
}

// Room for the jobs, not for what the workers have to leave.
BOOST_AUTO_TEST_CASE(AFullDiskInTheWorkersEndsTheBuildAndIsNamed) {
  BuildFixture fixture;
  const SmallDisk disk(16UL * 1024);
  const Result<BuildReport> report = fixture.build();
  BOOST_REQUIRE_EQUAL(outcome(report), "input/output");
  BOOST_TEST(contains(report.status().message(), "File too large"), report.status().message());
  for (const std::string& file : fixture.files()) BOOST_TEST(!is_partial_output(file), file);
}

// The next job would fit.
BOOST_AUTO_TEST_CASE(AJobWithoutRoomEndsTheBuild) {
  BuildFixture fixture;
  fixture.options.precisions.clear();
  fixture.options.gemm = false;
  fixture.options.parallel = 1;
  std::string large = "// ";
  std::mt19937 random;
  for (int i = 0; i < 100000; ++i) large += static_cast<char>('a' + random() % 26);
  for (const auto& [name, text] : {std::pair("first", large), std::pair("second", std::string())}) {
    program::Program program;
    program.name = name;
    program.source = {program.name + ".cl", "kernel void rows() {}\n" + text};
    program.launches = {{cache::Role::kernel, "rows", {1, 1, 1}, 1, 1}};
    fixture.options.programs.push_back(program);
  }
  const SmallDisk disk(32UL * 1024);
  BOOST_TEST(outcome(fixture.build()) == "input/output");
}

}  // namespace clbake::builder::test
