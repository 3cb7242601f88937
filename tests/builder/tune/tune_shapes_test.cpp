// Shapes to tune for: the presets, and files that users write.
#include "build_fixture.hpp"

#include <clbake/builder/tune.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>

namespace clbake::builder::test {
namespace {

using kernels::DeviceType;

std::vector<std::string> names(const std::vector<Shape>& shapes) {
  std::vector<std::string> list;
  for (const Shape& shape : shapes) list.push_back(name(shape));
  return list;
}

std::set<std::string> classes(const std::vector<Shape>& shapes) {
  std::set<std::string> list;
  for (const Shape& shape : shapes) list.insert(shape_class(shape));
  return list;
}

class File {
 public:
  explicit File(const std::string& text) : directory_(required(ScratchDirectory::create())) {
    write_file(path(), text);
  }
  std::string path() const { return directory_.path() + "/shapes.txt"; }
  Result<TuneShapes> read() const { return read_shapes(path()); }

 private:
  ScratchDirectory directory_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(EveryPresetHasItsClassesAndProbesOfItsList) {
  const std::map<std::string, std::set<std::string>> wanted = {
      {"square", {"square"}},
      {"thin", {"thin-m", "thin-n", "thin-k", "thin-mn", "thin-mk", "thin-nk"}},
      {"small", {"small"}},
      {"batched", {"batched"}},
      {"all", {"square", "thin-m", "thin-n", "thin-k", "thin-mn", "thin-mk", "thin-nk", "small", "batched"}}};
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    for (const auto& [preset, has] : wanted) {
      const std::optional<TuneShapes> shapes = preset_shapes(preset, kind);
      BOOST_REQUIRE(shapes.has_value());
      BOOST_TEST((classes(shapes->list) == has), preset);
      BOOST_TEST((shapes->probes.size() == 1 || shapes->probes.size() == 2), preset);
      for (const std::size_t probe : shapes->probes) BOOST_TEST(probe < shapes->list.size(), preset);
      BOOST_TEST(shapes->grid.size() >= 100U, preset);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoShapeOfAPresetComesTwice) {
  for (const DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    const TuneShapes all = *preset_shapes("all", kind);
    std::vector<std::string> list = names(all.list);
    const std::vector<std::string> grid = names(all.grid);
    list.insert(list.end(), grid.begin(), grid.end());
    BOOST_TEST((std::set<std::string>(list.begin(), list.end()).size() == list.size()));
  }
}

BOOST_AUTO_TEST_CASE(PresetsAreTheSameEveryTime) {
  const TuneShapes once = *preset_shapes("all", DeviceType::cpu);
  const TuneShapes again = *preset_shapes("all", DeviceType::cpu);
  BOOST_TEST((once.list == again.list && once.grid == again.grid && once.probes == again.probes));
}

BOOST_AUTO_TEST_CASE(OtherNamesAreNoPresets) {
  for (const char* name : {"", "al", "ALL", "all ", "shapes.txt"}) {
    BOOST_TEST(!preset_shapes(name, DeviceType::cpu).has_value(), name);
  }
}

BOOST_AUTO_TEST_CASE(AFileHasShapesBatchesCommentsAndLineEndsOfAnyKind) {
  const File file(
      "# what we multiply\r\n"
      "\n"
      "  512x256x64\t\r\n"
      "16x16x16 batch 100   # many small ones\n"
      "1x2147483647x1 batch 1\n"
      "   # nothing\n"
      "8x8x8");
  const Result<TuneShapes> shapes = file.read();
  BOOST_REQUIRE_EQUAL(outcome(shapes), "ok");
  BOOST_TEST((names(shapes->list) == std::vector<std::string>{"single nn 512x256x64", "single nn 16x16x16 batch 100",
                                                              "single nn 1x2147483647x1", "single nn 8x8x8"}));
  BOOST_TEST(shapes->grid.empty());
  BOOST_TEST((shapes->probes == std::vector<std::size_t>{1, 2}));  // a medium and a large amount of work
}

BOOST_AUTO_TEST_CASE(AShapeThatStandsThereTwiceIsOne) {
  const Result<TuneShapes> shapes = File("5x5x5\n5x5x5 batch 1\n5x5x5 batch 2\n").read();
  BOOST_REQUIRE_EQUAL(outcome(shapes), "ok");
  BOOST_TEST(shapes->list.size() == 2U);
}

BOOST_AUTO_TEST_CASE(OneShapeIsItsOwnProbe) {
  const Result<TuneShapes> shapes = File("5x6x7\n").read();
  BOOST_REQUIRE_EQUAL(outcome(shapes), "ok");
  BOOST_TEST((shapes->probes == std::vector<std::size_t>{0}));
}

BOOST_AUTO_TEST_CASE(ABadLineIsNamedWithFileAndNumber) {
  for (const char* line : {"5x5",
                           "5x5x5x5",
                           "x5x5",
                           "5xx5",
                           "5x5x",
                           "0x5x5",
                           "5x0x5",
                           "-5x5x5",
                           "+5x5x5",
                           "5.0x5x5",
                           "5e2x5x5",
                           "0x10x5x5",
                           "2147483648x5x5",
                           "99999999999999999999x5x5",
                           "5X5X5",
                           "5*5*5",
                           "5 5 5",
                           "5x5x5 7",
                           "5x5x5 batch",
                           "5x5x5 batch 0",
                           "5x5x5 batch -1",
                           "5x5x5 batch 2147483648",
                           "5x5x5 batch 2 3",
                           "5x5x5 Batch 2",
                           "5x5x5 batch2",
                           "single nn 5x5x5",
                           "batch 2",
                           "\xef\xbb\xbf\x35x5x5",  // a byte order mark
                           "//"}) {
    const File file("# first\n7x7x7\r\n" + std::string(line) + "\n8x8x8\n");
    const Result<TuneShapes> shapes = file.read();
    BOOST_TEST(outcome(shapes) == "malformed", line);
    const std::string& message = shapes.status().message();
    BOOST_TEST(contains(message, file.path() + ": line 3: '" + line + "'"), message);
  }
}

BOOST_AUTO_TEST_CASE(ALongBadLineIsCutShort) {
  const Result<TuneShapes> shapes = File(std::string(100000, 'x')).read();
  BOOST_TEST(outcome(shapes) == "malformed");
  BOOST_TEST(shapes.status().message().size() < 1000U);
}

BOOST_AUTO_TEST_CASE(AFileWithoutAShapeIsRefused) {
  for (const char* text : {"", "\n\n", "# 5x5x5\n", " \t\r\n"}) {
    const File file(text);
    const Result<TuneShapes> shapes = file.read();
    BOOST_TEST(outcome(shapes) == "malformed");
    BOOST_TEST(contains(shapes.status().message(), file.path() + ": no shape in it"), shapes.status().message());
  }
}

BOOST_AUTO_TEST_CASE(AFileThatIsNotThereOrNoFileIsNamed) {
  const Result<TuneShapes> missing = read_shapes("/no/such/file");
  BOOST_TEST(outcome(missing) == "not found");
  BOOST_TEST(contains(missing.status().message(), "/no/such/file"), missing.status().message());
  const ScratchDirectory directory = required(ScratchDirectory::create());
  const Result<TuneShapes> folder = read_shapes(directory.path());
  BOOST_TEST(outcome(folder) == "input/output");
  BOOST_TEST(contains(folder.status().message(), directory.path()), folder.status().message());
  // Neither would come to an end.
  const std::string pipe = directory.path() + "/pipe";
  BOOST_REQUIRE_EQUAL(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    const Result<TuneShapes> endless = read_shapes(path);
    BOOST_TEST(outcome(endless) == "input/output");
    BOOST_TEST(contains(endless.status().message(), path + ": not a regular file"), endless.status().message());
  }
}

}  // namespace clbake::builder::test
