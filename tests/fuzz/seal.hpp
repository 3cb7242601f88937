// Makes the checksums of a mutated bundle right again, so that a fuzzer gets past them.
#pragma once

#include <clbake/cache/writer.hpp>

namespace clbake::fuzz {

// Seals what can be found from the bytes: blobs and texts, the proofs' program checksums, records, sections, section
// table, header; also the header's file size; and with `digest` the digests of all blobs. Leaves everything else as it
// is.
void seal(cache::Bytes& bundle, cache::DigestFunction digest = nullptr);

}  // namespace clbake::fuzz
