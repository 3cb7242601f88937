// PoCL's containers: what is read from them, what a slim one holds, and that no damage leads outside of the bytes.
#include "finalize/poclbin.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace clbake {
namespace {

using Bytes = cache::Bytes;
using Local = std::array<std::uint64_t, 3>;

constexpr std::size_t kVersionAt = 16;
constexpr std::size_t kPlaceAt = 36;

cache::ByteView view(const Bytes& bytes) { return {bytes.data(), bytes.size()}; }

void number(Bytes& into, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) into.push_back(static_cast<std::uint8_t>(value >> 8 * i));
}

void raw(Bytes& into, const std::string& text) { into.insert(into.end(), text.begin(), text.end()); }

void counted(Bytes& into, const std::string& text) {
  number(into, text.size(), 4);
  raw(into, text);
}

struct File {
  std::string path;
  std::string content;
};

Bytes files(const std::vector<File>& list) {
  Bytes bytes;
  for (const File& file : list) {
    counted(bytes, file.path);
    counted(bytes, file.content);
  }
  return bytes;
}

// The local memory of a kernel: a variable, its argument, or none.
enum class Memory { variable, argument, none };

// A kernel with one argument. `extra`: numbers that version 11 may have in a kernel's record, by its flags.
Bytes kernel(const std::string& name, Local local, const std::vector<File>& list, Memory memory = Memory::variable,
             std::uint32_t flags = 0, int extra = 0) {
  Bytes argument;
  number(argument, 0x11A3, 4);
  number(argument, memory == Memory::argument ? 0x119C : 0x119E, 4);
  number(argument, 0, 8);
  number(argument, 1, 4);
  number(argument, 8, 4);
  counted(argument, "a");
  counted(argument, "float*");
  Bytes rest;
  counted(rest, name);
  number(rest, 1, 4);
  number(rest, memory == Memory::variable ? 1 : 0, 4);
  for (const std::uint64_t size : local) number(rest, size, 8);
  if (memory == Memory::variable) number(rest, 256, 8);
  counted(rest, "reqd_work_group_size");
  number(rest, 31, 4);
  number(rest, flags, 4);
  for (int i = 0; i < extra; ++i) number(rest, 64, 4);
  rest.insert(rest.end(), argument.begin(), argument.end());
  const Bytes content = files(list);
  Bytes bytes;
  number(bytes, 20 + rest.size() + content.size(), 8);
  number(bytes, content.size(), 8);
  number(bytes, argument.size(), 4);
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes container(const std::vector<File>& root, const std::vector<Bytes>& kernels, std::uint32_t version = 9,
                std::uint64_t program_scope_bytes = 0) {
  Bytes bytes;
  raw(bytes, std::string("poclbin\0", 8));
  number(bytes, 0x0123456789ABCDEF, 8);
  number(bytes, version, 4);
  number(bytes, kernels.size(), 4);
  number(bytes, std::uint64_t{4} << 32, 8);
  number(bytes, 1, 4);
  raw(bytes, "AB/CDEFGHIJKLMNOPABCDEFGHIJKLMNOPABCDEFG" + std::string(1, '\0'));
  if (version == 11) number(bytes, program_scope_bytes, 8);
  const Bytes top = files(root);
  number(bytes, top.size(), 8);
  bytes.insert(bytes.end(), top.begin(), top.end());
  for (const Bytes& each : kernels) bytes.insert(bytes.end(), each.begin(), each.end());
  return bytes;
}

const std::vector<File> kBitcode = {{"/program.bc", "bitcode"}};

File function(const std::string& name, const std::string& shape) {
  return {"/" + name + "/" + shape + "/" + name + ".so", "code of " + name + " " + shape};
}

// One kernel with work-groups of one item and one with 256, each in three shapes, and a leftover of the compiler.
Bytes sample() {
  return container(kBitcode, {kernel("gemm", {1, 1, 1},
                                     {function("gemm", "1-1-1-goffs0-smallgrid"),
                                      {"/gemm/1-1-1-goffs0-smallgrid/parallel.bc", "leftover"},
                                      function("gemm", "0-0-0"),
                                      function("gemm", "1-1-1-goffs0")}),
                              kernel("copy", {256, 1, 1},
                                     {function("copy", "256-1-1-goffs0-smallgrid"), function("copy", "256-1-1-goffs0"),
                                      function("copy", "0-0-0")})});
}

std::vector<std::string> shapes(const PoclKernel& kernel) {
  std::vector<std::string> list;
  for (const PoclFunction& f : kernel.functions) list.push_back(f.shape);
  return list;
}

std::string code(const PoclFunction& f) { return {reinterpret_cast<const char*>(f.code.data), f.code.size}; }

// Parses and slims a copy that ends where its memory ends, for the sanitizers. All views have to lie inside.
// Returns whether the bytes were taken for a poclbin.
bool survives(const Bytes& bytes) {
  const Bytes copy(bytes.begin(), bytes.end());
  const Result<PoclBinary> binary = parse_poclbin(view(copy));
  static_cast<void>(slim_poclbin(view(copy)));
  if (!binary) return false;
  for (const PoclKernel& k : binary->kernels) {
    for (const PoclFunction& f : k.functions) {
      BOOST_REQUIRE(f.code.data >= copy.data());
      BOOST_REQUIRE(f.code.data + f.code.size <= copy.data() + copy.size());
    }
  }
  return true;
}

void refuse(const Bytes& bytes, Code code) {
  BOOST_TEST((parse_poclbin(view(bytes)).status().code() == code));
  BOOST_TEST((slim_poclbin(view(bytes)).status().code() == code));
}

}  // namespace

BOOST_AUTO_TEST_CASE(lists_kernels_and_shapes) {
  const Bytes bytes = sample();
  const Result<PoclBinary> binary = parse_poclbin(view(bytes));
  BOOST_REQUIRE_MESSAGE(binary, binary.status().message());
  BOOST_TEST(binary->holds_bitcode);
  BOOST_REQUIRE(binary->kernels.size() == 2);
  BOOST_TEST(binary->kernels[0].name == "gemm");
  BOOST_TEST((binary->kernels[0].required_local == Local{1, 1, 1}));
  BOOST_TEST((binary->kernels[1].required_local == Local{256, 1, 1}));
  BOOST_TEST(
      (shapes(binary->kernels[0]) == std::vector<std::string>{"1-1-1-goffs0-smallgrid", "0-0-0", "1-1-1-goffs0"}));
  BOOST_TEST(code(binary->kernels[1].functions[1]) == "code of copy 256-1-1-goffs0");
}

BOOST_AUTO_TEST_CASE(slim_holds_what_a_load_needs) {
  const Bytes bytes = sample();
  const Result<Bytes> slim = slim_poclbin(view(bytes));
  BOOST_REQUIRE_MESSAGE(slim, slim.status().message());
  const Result<PoclBinary> binary = parse_poclbin(view(*slim));
  BOOST_REQUIRE_MESSAGE(binary, binary.status().message());
  BOOST_TEST(!binary->holds_bitcode);
  BOOST_REQUIRE(binary->kernels.size() == 2);
  BOOST_TEST((shapes(binary->kernels[0]) == std::vector<std::string>{"0-0-0"}));
  BOOST_TEST(code(binary->kernels[0].functions[0]) == "code of gemm 0-0-0");
  BOOST_TEST(
      (shapes(binary->kernels[1]) == std::vector<std::string>{"256-1-1-goffs0-smallgrid", "256-1-1-goffs0", "0-0-0"}));
}

BOOST_AUTO_TEST_CASE(slim_programs_are_told_by_their_beginning) {
  const Bytes bytes = sample();
  const Bytes slim = *slim_poclbin(view(bytes));
  BOOST_TEST(is_slim_poclbin(view(slim)));
  BOOST_TEST(!is_slim_poclbin(view(bytes)));
  BOOST_TEST(!is_slim_poclbin({slim.data(), kPoclPlaceAt + kPoclPlaceBytes - 1}));
  BOOST_TEST(!is_slim_poclbin({slim.data() + 1, slim.size() - 1}));
}

// Its builder may have asked for the sizes of one kernel in the others as well.
BOOST_AUTO_TEST_CASE(a_slim_program_keeps_its_own_launches) {
  const Local none = {0, 0, 0};
  const Bytes bytes = container(
      kBitcode,
      {kernel("rows", none,
              {function("rows", "64-1-1-goffs0-smallgrid"), function("rows", "64-1-1-goffs0"),
               function("rows", "6-1-1-goffs0"), function("rows", "8-8-1-goffs0"), function("rows", "0-0-0")}),
       kernel("sums", none, {function("sums", "64-1-1-goffs0"), function("sums", "0-0-0")})});
  cache::Variant program;
  program.launches = {{cache::Role::kernel, "rows", {64, 1, 1}, 1, 1}, {cache::Role::kernel, "sums", {8, 8, 1}, 1, 1}};
  const Result<Bytes> slim = slim_poclbin(view(bytes), &program);
  BOOST_REQUIRE_MESSAGE(slim, slim.status().message());
  const Result<PoclBinary> binary = parse_poclbin(view(*slim));
  BOOST_REQUIRE(binary);
  BOOST_TEST(
      (shapes(binary->kernels[0]) == std::vector<std::string>{"64-1-1-goffs0-smallgrid", "64-1-1-goffs0", "0-0-0"}));
  BOOST_TEST((shapes(binary->kernels[1]) == std::vector<std::string>{"0-0-0"}));
}

// Specialised ones are no faster there.
BOOST_AUTO_TEST_CASE(a_kernel_without_local_memory_keeps_one_function) {
  const std::vector<File> all = {function("k", "64-1-1-goffs0-smallgrid"), function("k", "64-1-1-goffs0"),
                                 function("k", "0-0-0")};
  cache::Variant program;
  program.launches = {{cache::Role::kernel, "k", {64, 1, 1}, 1, 1}};
  for (const auto& [memory, kept] : {std::pair(Memory::none, 1U), {Memory::argument, 3U}, {Memory::variable, 3U}}) {
    const Result<Bytes> slim = slim_poclbin(view(container(kBitcode, {kernel("k", {0, 0, 0}, all, memory)})), &program);
    BOOST_REQUIRE_MESSAGE(slim, slim.status().message());
    const Result<PoclBinary> binary = parse_poclbin(view(*slim));
    BOOST_REQUIRE(binary);
    BOOST_TEST(binary->kernels[0].functions.size() == kept);
  }
}

BOOST_AUTO_TEST_CASE(containers_of_newer_pocl_are_slimmed_too) {
  const std::vector<File> good = {function("k", "64-1-1-goffs0"), function("k", "0-0-0")};
  for (const auto& [flags, numbers] : {std::pair(0U, 0), {2U, 5}, {4U, 2}, {6U, 7}}) {
    const auto made = [&](const std::vector<File>& root, const std::vector<File>& list) {
      return container(root, {kernel("k", {64, 1, 1}, list, Memory::argument, flags, numbers)}, 11);
    };
    const Result<Bytes> slim = slim_poclbin(view(made(kBitcode, good)));
    BOOST_REQUIRE_MESSAGE(slim, slim.status().message());
    Bytes expected = made({{"/clbake", ""}}, good);
    expected[kPlaceAt] = 'Z';
    BOOST_TEST(*slim == expected);
  }
  refuse(container(kBitcode, {kernel("k", {64, 1, 1}, good, Memory::none, 8, 1)}, 11), Code::malformed);
  refuse(container(kBitcode, {kernel("k", {64, 1, 1}, good)}, 11, 64), Code::malformed);
}

BOOST_AUTO_TEST_CASE(slim_has_its_own_place_and_the_rest_of_the_header) {
  Bytes header = sample();
  const Result<Bytes> slim = slim_poclbin(view(header));
  BOOST_REQUIRE(slim);
  header[kPlaceAt] = 'Z';
  BOOST_TEST(std::equal(header.begin(), header.begin() + 77, slim->begin()));
}

// Byte for byte what PoCL reads, made here by other means.
BOOST_AUTO_TEST_CASE(slim_is_a_container_with_an_empty_root_file) {
  Bytes expected = container({{"/clbake", ""}}, {kernel("gemm", {1, 1, 1}, {function("gemm", "0-0-0")})});
  expected[kPlaceAt] = 'Z';
  const Bytes bytes =
      container(kBitcode, {kernel("gemm", {1, 1, 1}, {function("gemm", "1-1-1-goffs0"), function("gemm", "0-0-0")})});
  const Result<Bytes> slim = slim_poclbin(view(bytes));
  BOOST_REQUIRE(slim);
  BOOST_TEST(*slim == expected);
  const Result<Bytes> again = slim_poclbin(view(*slim));
  BOOST_REQUIRE(again);
  BOOST_TEST(*again == *slim);
}

BOOST_AUTO_TEST_CASE(refuses_what_it_does_not_know) {
  refuse({}, Code::malformed);
  Bytes bytes = sample();
  bytes[0] = 'q';
  refuse(bytes, Code::malformed);
  for (const std::uint8_t version : Bytes{0, 8, 10, 12, 255}) {
    bytes = sample();
    bytes[kVersionAt] = version;
    refuse(bytes, Code::unsupported_version);
  }
  for (const char c : {'.', '/', 'Q', 'a', '\0'}) {
    bytes = sample();
    bytes[kPlaceAt + 5] = static_cast<std::uint8_t>(c);
    refuse(bytes, Code::malformed);
  }
  bytes = sample();
  bytes.push_back(0);
  refuse(bytes, Code::malformed);
}

BOOST_AUTO_TEST_CASE(refuses_files_that_lead_elsewhere) {
  const std::vector<File> good = {function("gemm", "0-0-0")};
  BOOST_TEST(parse_poclbin(view(container(kBitcode, {kernel("gemm", {1, 1, 1}, good)}))).ok());
  for (const char* path : {"/../gemm.so", "/gemm/../gemm.so", "/gemm/../../gemm.so", "gemm/0-0-0/gemm.so",
                           "/other/0-0-0/gemm.so", "/gemm/gemm.so"}) {
    refuse(container(kBitcode, {kernel("gemm", {1, 1, 1}, {{path, "code"}})}), Code::malformed);
  }
  for (const char* path : {"/../program.bc", "/other", ""}) {
    refuse(container({{path, "bitcode"}}, {kernel("gemm", {1, 1, 1}, good)}), Code::malformed);
  }
  for (const char* name : {"", "..", "a/b"}) {
    refuse(container(kBitcode, {kernel(name, {1, 1, 1}, {function(name, "0-0-0")})}), Code::malformed);
  }
}

BOOST_AUTO_TEST_CASE(needs_a_function_for_every_launch) {
  const Bytes bytes = container(kBitcode, {kernel("gemm", {1, 1, 1}, {function("gemm", "1-1-1-goffs0")})});
  BOOST_TEST(parse_poclbin(view(bytes)).ok());
  BOOST_TEST((slim_poclbin(view(bytes)).status().code() == Code::malformed));
  refuse(container(kBitcode, {}), Code::malformed);
  refuse(container(kBitcode, {kernel("gemm", {1, 1, 1}, {{"/gemm/0-0-0/gemm.so", ""}})}), Code::malformed);
}

BOOST_AUTO_TEST_CASE(every_truncation_is_refused) {
  const Bytes whole = sample();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    BOOST_TEST(!survives(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), "at " << size);
  }
}

BOOST_AUTO_TEST_CASE(no_damage_leads_outside) {
  const Bytes whole = sample();
  BOOST_TEST(survives(whole));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = whole;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ 1 << bit);
      if (!survives(damaged)) ++refused;
    }
    for (const std::size_t width : {std::size_t{4}, std::size_t{8}}) {
      for (const std::uint8_t value : Bytes{0x00, 0x7F, 0xFF}) {
        Bytes damaged = whole;
        for (std::size_t i = at; i < std::min(at + width, damaged.size()); ++i) damaged[i] = value;
        survives(damaged);
      }
    }
  }
  BOOST_TEST(refused > whole.size());  // all lengths, paths and the header count
}

}  // namespace clbake
