// The files of a recording: for each process a journal, to which each thing seen is added as a line of JSON, so that a
// kill costs the last one at most; and files of texts and contents, named by their digest, which processes share.
//
// All is its owner's alone.
//
//   DIR/process-PID-N.jsonl   {"clbake_recording":1,"executable":"/usr/bin/app","pid":PID}
//                             {"program":{...},"id":ID,"kernels":"a;b","log":L}  "program" as in the manifest
//                             {"id":ID,"kernel":NAME}                            was created
//                             {"id":ID,"kernel":NAME,"size":[X,Y,Z] or null}     was launched with this local size
//                             {"id":ID,"kernel":NAME,"trial":{...}}              as in the manifest
//                             {"id":ID,"kernel":NAME,"untried":"why"}
//                             {"note":"what could not be recorded"}
//   DIR/sources/DIGEST.cl, .h, .spv    DIR/data/DIGEST.bin
//
// `clbake capture` makes a manifest of them. Any thread may call these functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clbake::layer::record {

// The directory; called once, before the others.
void open_journal(const std::string& directory);

// Adds a line. A forked child adds to its parent's journal; a program that closes it gets a further one. The first
// failure is logged, and ends the recording.
void add_line(const std::string& json);

// Adds a note; each text once.
void note(const std::string& text);

// Stores the bytes, and returns the file's name in the directory: "sources/DIGEST.cl" for the folder "sources" and the
// ending ".cl". Empty after a failure.
std::string store(const char* folder, const char* ending, std::string_view bytes);

// Bytes of the contents that are in the directory: those of other processes.
std::uint64_t stored_contents();

// True once a line or file could not be written.
bool has_failed();

// 32 hexadecimal digits that name the bytes.
std::string digest_text(std::string_view bytes);

}  // namespace clbake::layer::record
