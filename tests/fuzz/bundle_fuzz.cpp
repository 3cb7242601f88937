// Bundles are read from files and from memory that others made. Whatever the bytes, reading ends with a value or a
// Status; and what a full verification accepts can be decoded, written again, and says the same then.
//
// Each input is read twice: as it is, and with its checksums made right, without which hardly any mutation would get
// past the first record.
#include "fuzz.hpp"
#include "seal.hpp"

#include <clbake/cache/pack.hpp>
#include <clbake/cache/reader.hpp>
#include <clbake/cache/slices.hpp>
#include <clbake/cache/writer.hpp>

#include <algorithm>

namespace {

using namespace clbake;
using namespace clbake::cache;
using clbake::fuzz::expect;

constexpr std::uint32_t kMost = 8;  // records of each section that are looked at, and one more past the end

// Every read of single records and every search, whose answers must fit each other.
void read_records(const Bundle& bundle) {
  for (std::uint32_t i = 0; i <= std::min(bundle.target_count(), kMost); ++i) {
    const Result<Target> target = bundle.target(i);
    Target wanted = target ? *target : Target();
    const Result<std::uint32_t> found = bundle.find_target(wanted);
    if (found) {
      const Target other = *bundle.target(*found);
      expect(missing_feature(other, wanted).empty(), "find_target finds a target that the CPU is enough for");
      wanted.cpu_features = other.cpu_features;
      expect(other == wanted, "find_target finds an equal target but for CPU features");
    }
    const Result<Profile> profile = bundle.find_profile(i);
    expect(!profile || profile->target == i, "find_profile finds the target's profile");
    for (std::uint32_t v = 0; v <= std::min(bundle.variant_count(), kMost); ++v) {
      for (const Form form : {Form::native, Form::portable}) {
        const Result<EntryInfo> entry = bundle.find_entry(i, v, form);
        expect(!entry || (entry->target == i && entry->variant == v && entry->form == form),
               "find_entry finds an entry of the target, variant and form");
      }
    }
  }
  for (std::uint32_t i = 0; i <= std::min(bundle.source_count(), kMost); ++i) (void)bundle.source(i);
  for (std::uint32_t i = 0; i <= std::min(bundle.variant_count(), kMost); ++i) (void)bundle.variant(i);
  for (std::uint32_t i = 0; i <= std::min(bundle.profile_count(), kMost); ++i) (void)bundle.profile(i);
  for (std::uint32_t i = 0; i <= std::min(bundle.entry_count(), kMost); ++i) {
    const Result<EntryInfo> entry = bundle.entry(i);
    if (!entry) continue;
    const Result<Bytes> program = bundle.program(*entry);
    expect(!program || program->size() == entry->program.raw_bytes, "a program has the declared size");
  }
}

// An index that is verified is written again as the same bytes.
void read_index(const Bundle& bundle) {
  const Result<SliceTable> table = bundle.slices();
  expect(bundle.is_index() || !table.ok(), "only an index has slices");
  if (!table || !bundle.verify()) return;
  std::vector<Target> targets;
  for (std::uint32_t i = 0; i < bundle.target_count(); ++i) targets.push_back(*bundle.target(i));
  const Result<Bytes> written = pack_index(targets, *table);
  expect(written.ok(), "a verified index can be written");
  const Bundle again = *Bundle::from_memory({written->data(), written->size()});
  expect(again.slices()->slices.size() == table->slices.size(), "and has the same slices");
}

// A verified bundle can be written again; written twice it is the same bytes.
void write_again(const Bundle& bundle) {
  const Result<Contents> contents = bundle.decode();
  expect(contents.ok(), "a verified bundle can be decoded");
  const Result<Bytes> written = encode(*contents, Packing::plain);
  expect(written.ok(), "a verified bundle can be written");
  const Result<Bundle> again = Bundle::from_memory({written->data(), written->size()});
  expect(again.ok() && again->verify().ok(), "a written bundle is valid");
  const Result<Bytes> twice = encode(*again->decode(), Packing::plain);
  expect(twice.ok() && *twice == *written, "equal contents give equal bytes");
  const Result<Bytes> packed = pack(*contents, {1, nullptr, {}, nullptr});
  expect(packed.ok() && Bundle::from_memory({packed->data(), packed->size()})->verify().ok(),
         "a packed bundle is valid");
}

// Admits a blob by the first byte of its digest: enough mutations pass to reach what lies behind.
class FirstByte : public Guard {
 public:
  Result<ByteView> admit(ByteView stored, const std::uint8_t* digest, Bytes& copy) const override {
    copy.assign(stored.data, stored.data + stored.size);
    if (*digest % 8 == 0) return Status(Code::not_trusted, "the first byte of its digest");
    return ByteView{copy.data(), copy.size()};
  }
};

// Under a guard the same bytes are read, or nothing.
void read_guarded(const Bundle& bundle) {
  (void)bundle.signatures();
  const Result<Bytes> identified = bundle.identified_bytes();
  expect(!identified.ok() || bundle.has_digests(), "without digests there is no identity");
  const Result<Bundle> guarded = bundle.guarded_by(std::make_shared<const FirstByte>());
  expect(guarded.ok() == identified.ok(), "what has an identity can be guarded");
  if (!guarded) return;
  expect(*guarded->identified_bytes() == *identified, "the same identity under a guard");
  (void)bundle.check_digests(FirstByte());
  read_records(*guarded);
}

void read(ByteView bytes) {
  const Result<Bundle> bundle = Bundle::from_memory(bytes);
  if (!bundle) return;
  read_records(*bundle);
  read_guarded(*bundle);
  read_index(*bundle);
  if (bundle->verify()) write_again(*bundle);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read({data, size});
  Bytes sealed(data, data + size);
  fuzz::seal(sealed);
  read({sealed.data(), sealed.size()});
  return 0;
}
