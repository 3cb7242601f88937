// Files of keys: one line each, "clbake-secret-key-1 " or "clbake-public-key-1 " and 64 hexadecimal digits. The secret
// key is the seed of an Ed25519 key.
#pragma once

#include <clbake/seal.hpp>

#include <string>

namespace clbake::builder::release {

// Writes `path` and `path`.pub, or neither, and replaces none. Fails with io.
Status write_key_files(const std::string& path, const Digest& seed, const Digest& public_key);

// Reads a file, a pipe or, for "-", standard input. Fails with io, and with invalid_argument when it is no secret key
// or the file's permissions let others than its owner read it.
Status read_secret_key(const std::string& path, Digest& seed);

// The digits themselves, or where to read them from as above. Fails like read_secret_key; anybody may read a public
// key.
Result<Digest> read_public_key(const std::string& digits_or_path);

// Overwrites a secret with zeros.
void forget(Digest& secret);
void forget(std::string& secret);

}  // namespace clbake::builder::release
