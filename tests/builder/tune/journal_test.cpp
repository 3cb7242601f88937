// The journal of a tuning on disk: whole, half-written, another one's, damaged.
#include "tune/journal.hpp"
#include "build_fixture.hpp"

#include <sys/resource.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <map>

namespace clbake::builder::test {
namespace {

namespace fs = std::filesystem;
using namespace tune;

constexpr const char* kSettings = R"({"seed":1,"text":"a \"b\""})";

class Notebook {
 public:
  Notebook() : directory_(required(process::ScratchDirectory::create())), path(directory_.path() + "/tuning.journal") {}

  Result<Journal> open(const std::string& settings = kSettings) const { return Journal::open(path, settings); }

  // With these records behind the settings.
  void write(const std::vector<JournalRecord>& records) const {
    Journal journal = required(open());
    for (const JournalRecord& record : records) BOOST_TEST(outcome(journal.add(record)) == "ok");
  }

  void append(const std::string& text) const { write_file(path, read_file(path) + text); }

 private:
  process::ScratchDirectory directory_;

 public:
  std::string path;
};

const JournalRecord kStep{"explore single nn 17 0",         "a b c", 12.5, {{1.5, 1.0 / 3}, {}, {7}},
                          {{1, "wrong result at \"5\"\n"}}, {1}};
const JournalRecord kRace{"finals single nn 0 5", "a b", 14.25, {{2e-7}, {123456.78901234567}}, {}, {}};

void check_equal(const JournalRecord* found, const JournalRecord& wanted) {
  BOOST_REQUIRE(found != nullptr);
  BOOST_TEST(found->key == wanted.key);
  BOOST_TEST(found->variants == wanted.variants);
  BOOST_TEST((found->failures == wanted.failures));
  BOOST_TEST(found->at_s == wanted.at_s);
  BOOST_TEST((found->us == wanted.us));
  BOOST_TEST((found->late == wanted.late));
}

}  // namespace

BOOST_AUTO_TEST_CASE(RecordsAreInTheFileAtOnceToTheLastBit) {
  const Notebook book;
  Journal journal = required(book.open());
  BOOST_TEST(journal.last_s() == 0.0);
  for (const JournalRecord& record : {kStep, kRace}) {
    BOOST_TEST(outcome(journal.add(record)) == "ok");
    check_equal(required(book.open()).find(record.key, record.variants), record);
  }
  BOOST_TEST(journal.last_s() == 14.25);
  BOOST_TEST(required(book.open()).last_s() == 14.25);
}

BOOST_AUTO_TEST_CASE(ALaterRecordOfAKeyReplacesTheEarlierOne) {
  const Notebook book;
  JournalRecord later = kRace;
  later.variants = "c d";
  later.us = {{1}, {2}};
  book.write({kRace, later});
  const Journal journal = required(book.open());
  BOOST_TEST(journal.find(kRace.key, kRace.variants) == nullptr);
  BOOST_TEST(journal.find(kRace.key, "d c") == nullptr);
  BOOST_TEST(journal.find("finals single nn 0 6", "c d") == nullptr);
  check_equal(journal.find(kRace.key, "c d"), later);
}

BOOST_AUTO_TEST_CASE(AHalfWrittenLastLineIsDroppedAndWrittenOver) {
  const Notebook whole;
  whole.write({kStep, kRace});
  const std::string text = read_file(whole.path);
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  const Notebook empty;
  write_file(empty.path, std::string(kSettings).substr(0, 5));  // not even the settings
  empty.write({kStep});
  for (std::size_t size = last; size < text.size(); size += 7) {
    const Notebook book;
    write_file(book.path, text.substr(0, size));
    Journal journal = required(book.open());
    check_equal(journal.find(kStep.key, kStep.variants), kStep);
    BOOST_TEST(journal.find(kRace.key, kRace.variants) == nullptr);
    BOOST_TEST(outcome(journal.add(kRace)) == "ok");
    BOOST_TEST(read_file(book.path) == text);
  }
}

BOOST_AUTO_TEST_CASE(OtherSettingsAreRefusedAndTheFileIsKept) {
  const Notebook book;
  book.write({kStep});
  const std::string text = read_file(book.path);
  const Result<Journal> other = book.open(R"({"seed":2})");
  BOOST_TEST(outcome(other) == "invalid argument");
  BOOST_TEST(contains(other.status().message(), book.path), other.status().message());
  BOOST_TEST(contains(other.status().message(), "--fresh"), other.status().message());
  BOOST_TEST(contains(other.status().message(), "seed was 1, is 2"), other.status().message());
  BOOST_TEST(contains(other.status().message(), "text was \"a \\\"b\\\"\", is \"not set\""), other.status().message());
  BOOST_TEST(read_file(book.path) == text);
  const std::string of_long = book.open(R"({"seed":1,"text":")" + std::string(100, 'x') + R"("})").status().message();
  BOOST_TEST(contains(of_long, "options: text differs;"), of_long);
}

// To copy and to write a value takes stack for each level.
BOOST_AUTO_TEST_CASE(DeepSettingsAndRecordsAreRefused) {
  const std::string deep = R"({"seed":)" + std::string(1000000, '[') + std::string(1000000, ']') + "}\n";
  const Notebook settings;
  settings.append(deep);
  const Result<Journal> other = settings.open();
  BOOST_TEST(outcome(other) == "invalid argument");
  BOOST_TEST(contains(other.status().message(), "does not name the options"), other.status().message());
  const Notebook records;
  records.write({kStep});
  records.append(deep);
  BOOST_TEST(outcome(records.open()) == "malformed");
}

BOOST_AUTO_TEST_CASE(DamageNamesTheFileAndTheLineAndKeepsTheFile) {
  const auto with = [](const std::string& field, const std::string& value) {
    std::map<std::string, std::string> fields = {{"key", "\"k\""}, {"variants", "\"v\""}, {"at", "1"},
                                                 {"us", "[[1]]"},  {"failures", "[]"},    {"late", "[]"}};
    fields[field] = value;
    std::string text;
    for (const auto& [name, json] : fields) text += (text.empty() ? "{\"" : ",\"") + name + "\":" + json;
    return text + "}";
  };
  for (const std::string& damage :
       {std::string("no JSON"),    std::string(),        std::string("[]"),       std::string(R"({"key":"k"})"),
        with("key", "1"),          with("at", "\"1\""),  with("at", "1e300"),     with("at", "-1"),
        with("us", "{}"),          with("us", "[1]"),    with("us", "[[1],[2]]"), with("us", "[[\"1\"]]"),
        with("us", "[[0]]"),       with("us", "[[-1]]"), with("us", "[[1e999]]"), with("failures", "[[1,\"cause\"]]"),
        with("failures", "[[0]]"), with("late", "[1]"),  with("late", "[\"0\"]"), with("late", "0")}) {
    const Notebook book;
    book.write({kStep});
    book.append(damage + "\n");
    const std::string text = read_file(book.path);
    const Result<Journal> journal = book.open();
    BOOST_TEST(outcome(journal) == "malformed", damage);
    BOOST_TEST(contains(journal.status().message(), book.path + ": line 3"), journal.status().message());
    BOOST_TEST(contains(journal.status().message(), "--fresh"), journal.status().message());
    BOOST_TEST(read_file(book.path) == text);
  }
}

BOOST_AUTO_TEST_CASE(FailuresNeedNotBeUtf8) {
  const Notebook book;
  JournalRecord record = kStep;
  record.failures[1] = "driver: \xff\xc3 \x01 end";
  book.write({record});
  const Journal journal = required(book.open());
  const JournalRecord* found = journal.find(record.key, record.variants);
  BOOST_REQUIRE(found != nullptr);
  BOOST_TEST(contains(found->failures.at(1), "driver: "), found->failures.at(1));
  BOOST_TEST(contains(found->failures.at(1), " \x01 end"), found->failures.at(1));
}

BOOST_AUTO_TEST_CASE(AFileThatCannotBeOpenedOrReadIsAnIoFailure) {
  const Notebook book;
  const Result<Journal> missing = Journal::open("/no/such/directory/journal", kSettings);
  BOOST_TEST(outcome(missing) == "input/output");
  BOOST_TEST(contains(missing.status().message(), "/no/such/directory/journal"), missing.status().message());
  fs::create_directory(book.path);
  BOOST_TEST(outcome(book.open()) == "input/output");
}

BOOST_AUTO_TEST_CASE(AFullDiskIsAnIoFailure) {
  const Notebook book;
  Journal journal = required(book.open());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  BOOST_REQUIRE_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{fs::file_size(book.path) + 10, before.rlim_max};
  BOOST_REQUIRE_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status full = journal.add(kStep);
  BOOST_REQUIRE_EQUAL(setrlimit(RLIMIT_FSIZE, &before), 0);
  BOOST_TEST(outcome(full) == "input/output");
}

BOOST_AUTO_TEST_CASE(OnlyARegularFileIsRead) {
  const Notebook book;
  fs::create_symlink("/dev/zero", book.path);  // has no end
  const Result<Journal> endless = book.open();
  BOOST_TEST(outcome(endless) == "input/output");
  BOOST_TEST(contains(endless.status().message(), book.path), endless.status().message());
}

}  // namespace clbake::builder::test
