// A tuning goes on from its journal, which a crash may have cut off and an editor may have changed. Whatever the file
// holds, opening it ends with a journal or a Status; an open journal takes further records and opens again with them.
#include "fuzz.hpp"
#include "system/temporary_directory.hpp"
#include "tune/journal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbake;
  using namespace clbake::builder::tune;
  static const tests::TemporaryDirectory directory;
  const std::string path = directory.file("journal");
  fuzz::write_file(path, data, size);
  const JournalRecord record{"explore single nn 17 0", "direct local_tile", 12.5, {{1.5}, {}}, {{1, "cause"}}, {}};
  {
    Result<Journal> journal = Journal::open(path, "{}");
    if (!journal) return 0;
    fuzz::expect(journal->add(record).ok(), "an open journal takes records");
  }
  const Result<Journal> again = Journal::open(path, "{}");
  fuzz::expect(again.ok(), "a journal opens again after a record was added");
  fuzz::expect(again->find(record.key, record.variants) != nullptr, "a record that was added is found");
  return 0;
}
