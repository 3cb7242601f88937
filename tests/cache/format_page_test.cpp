// The example of FORMAT.md is a bundle that `encode` writes: the page's hexadecimal lines are compared with its bytes.
#include "samples.hpp"

#include <clbake/cache/writer.hpp>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

using namespace clbake;
using namespace clbake::cache;
using namespace clbake::cache::test;

namespace {

// One record of each section. Without compression, whose bytes depend on the version of zstd.
Contents example() {
  Contents c;
  c.targets = {{"P", "3.0", "V", "D", "1.2", "9", "sm_90", 64}};
  c.sources = {{"g.cl", "kernel void gemm(){}"}};
  Variant variant;
  variant.name = "d";
  variant.family = "direct";
  variant.trans_b = true;
  variant.contract = 2;
  variant.launches = {{Role::gemm, "gemm", {8, 8, 1}, 32, 64}};
  c.variants = {variant};
  Rule small;
  small.trans_b = true;
  small.m_max = 256;
  CostModel model;
  model.trans_b = true;
  model.tile_m = model.item_m = 32;
  model.tile_n = model.item_n = 64;
  model.step_k = 8;
  model.resident = 2;
  model.call_us = 4;
  model.start_us = 0.75F;
  model.wave_us = 1.5F;
  model.latency_us = 0.25F;
  model.step_us = 0.125F;
  model.unaligned_us = 0.0625F;
  model.a_us = model.b_us = 1;
  model.c_us = 2;
  model.error = 0.0625F;
  model.margin = 0.03125F;
  Rule rest;
  rest.trans_b = true;
  c.profiles = {{0, 24, {small}, {model}, {rest}}};
  Proof proof;
  proof.proven = proof.jit_free = true;
  proof.create_us = 100;
  proof.first_us = 50;
  proof.steady_us = 25;
  proof.tolerance = 1;
  proof.tools = {{"t", "1"}};
  proof.device = "D";
  proof.driver = "9";
  Entry entry;
  entry.proof = proof;
  entry.program = {0x7F, 'E', 'L', 'F'};
  c.entries = {entry};
  return c;
}

// Compares the page's lines "    0080  01000000 ...  meaning" with the written bytes. Up to the address of the next
// line, ".." is zeros and "--" bytes that are left out. Returns the address behind the last line.
std::size_t compare_page(const Bytes& written) {
  std::ifstream page(CLBAKE_FORMAT_PAGE);
  std::size_t at = 0;
  char gap = 0;  // of the line before: '.' or '-'
  for (std::string line; std::getline(page, line);) {
    if (line.size() < 13 || line.compare(0, 5, "    0") != 0 || line.compare(8, 2, "  ") != 0) continue;
    const std::size_t address = std::stoul(line.substr(4, 4), nullptr, 16);
    BOOST_REQUIRE_MESSAGE((address == at || (gap != 0 && address > at && address <= written.size())), line);
    for (; at < address; ++at) BOOST_REQUIRE_MESSAGE((gap == '-' || written[at] == 0), line);
    gap = line[10] == '.' || line[10] == '-' ? line[10] : '\0';
    std::istringstream columns(line.substr(10, gap != 0 ? 0 : line.find("  ", 10) - 10));
    for (std::string group; columns >> group;) {
      for (std::size_t i = 0; i < group.size(); i += 2, ++at) {
        BOOST_REQUIRE_MESSAGE((at < written.size() && std::stoul(group.substr(i, 2), nullptr, 16) == written[at]),
                              "byte " << at << " of the example of FORMAT.md");
      }
    }
  }
  return at;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ExampleOfThePageIsWhatTheWriterWrites) {
  const Bytes written = encode(example(), Packing::plain).value();
  BOOST_TEST(compare_page(written) == written.size());
  BOOST_TEST(open_bytes(written)->verify().message() == "");
}
