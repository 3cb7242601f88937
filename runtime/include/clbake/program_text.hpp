// All that an application gives for one program: the key by which a program is found that nobody named.
//
//   clbake::ProgramText text;
//   text.sources = {source};
//   text.options = "-cl-mad-enable -I kernels";
//   auto program = library->program(text);
#pragma once

#include <clbake/export.h>
#include <clbake/cache/model.hpp>
#include <clbake/status.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace clbake {

using cache::ContentDigest;

struct ProgramText {
  struct Header {
    std::string name, text;
  };
  std::vector<std::string> sources;  // as for clCreateProgramWithSource; their joined bytes count
  std::string il;                    // SPIR-V of clCreateProgramWithIL, in place of sources
  std::string options;               // of clBuildProgram; of clCompileProgram for a part; of clLinkProgram with parts
  std::vector<Header> headers;       // of clCompileProgram
  std::vector<ProgramText> parts;    // of clLinkProgram; then sources and il are empty
};

// All functions: any thread.

// The same program with nothing left to look for: one source; the files that it can include, whatever the conditions
// around the directives, are headers, ordered by name; the options without -I, blanks between them. A name is looked
// for among the headers, beside the including file, in the -I folders and in the working directory, as the process sees
// them now; a file that is not found is left out. Reads files. Fails with invalid_argument where it cannot be told what
// a compiler would read: an option such as -include, one name for two different files, too many files.
CLBAKE_API Result<ProgramText> self_contained(const ProgramText& program);

// BLAKE2b of encode(self_contained(program)): equal only where a compiler sees the same. The -I folders do not count,
// only what is found there, nor does the constant of another name that pyopencl puts at the end in each process. Fails
// like self_contained.
CLBAKE_API Result<ContentDigest> content_digest(const ProgramText& program);

// The digests of the parts and of theirs: of a linked program's variant. Fails like self_contained.
CLBAKE_API Result<std::vector<ContentDigest>> part_digests(const ProgramText& program);

// A program without name is named by its digest in a bundle: "content-" and 64 hexadecimal digits.
inline constexpr const char* kContentPrefix = "content-";
CLBAKE_API std::string content_name(const ContentDigest& digest);

// One text, equal for equal programs only, but that sources are joined. A program of one source and nothing else, not
// even options, is this source itself. Reads no files.
CLBAKE_API std::string encode(const ProgramText& program);

// True for what encode makes of more than one source.
CLBAKE_API bool is_encoded(std::string_view text);

// Lets libraries compile a bundle's encoded programs that are asked for by name, too; those that are asked for by
// content need no such call, nor does the header for C. An application that does not call it is 10 KB smaller.
CLBAKE_API void enable_encoded_programs();

// Fails with malformed or unsupported_version for bytes that encode did not make.
CLBAKE_API Result<ProgramText> decode_program_text(std::string_view encoded);

}  // namespace clbake
