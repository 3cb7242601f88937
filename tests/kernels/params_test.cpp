#include <clbake/kernels/params.hpp>

#include <boost/test/unit_test.hpp>
#include <string>

using clbake::Precision;
using namespace clbake::kernels;

namespace {

// The message with which parse refuses a name.
std::string refusal(std::string_view text) {
  const auto parsed = parse(text);
  BOOST_REQUIRE_MESSAGE(std::holds_alternative<std::string>(parsed), text << " was read");
  return std::get<std::string>(parsed);
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_CASE(NameHoldsWhatDiffersFromTheStandard) {
  Params p;
  p.family = Family::stripe;
  p.precision = Precision::bfloat16;
  p.trans_a = true;
  p.layout_a = Layout::column_block;
  p.layout_b = Layout::image;
  p.local_a = true;
  p.split_k = 12;
  p.front_end = FrontEnd::clang;
  BOOST_TEST(name(p) == "stripe-b-tn-1x1x1-1x1x1-v1-acbl-bimage-split12-alocal-clang");
  Params q;
  q.family = Family::local_tile;
  q.precision = Precision::half_precision;
  q.trans_b = true;
  q.ml = 64;
  q.ks = 2;
  q.buffers = 2;
  q.prefetch = false;
  q.load_width = 4;
  q.padding = 4;
  q.map = Map::zigzag;
  q.fragments = 2;
  BOOST_TEST(name(q) == "local_tile-h-nt-64x1x1-1x1x2-v1-buffers2-noprefetch-load4-padding4-mapzigzag-fragments2");
}

BOOST_AUTO_TEST_CASE(EveryNameIsReadBack) {
  Params p = std::get<Params>(parse("register_tile-s-nn-60x128x512-6x64x1-v16"));
  for (const Parameter& parameter : parameters()) {
    const std::uint32_t largest = parameter.words.empty() ? 17 : static_cast<std::uint32_t>(parameter.words.size()) - 1;
    for (std::uint32_t value = 0; value <= largest; ++value) {
      parameter.set(p, value);
      const auto parsed = parse(name(p));
      BOOST_REQUIRE_MESSAGE(std::holds_alternative<Params>(parsed), name(p));
      BOOST_TEST((std::get<Params>(parsed) == p), name(p));
      BOOST_TEST(name(p).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos);  // a file
    }
  }
}

BOOST_AUTO_TEST_CASE(NamesThatCannotBeReadAreRefusedWithTheirPart) {
  BOOST_TEST(holds(refusal(""), "family-precision-transposes"));
  BOOST_TEST(holds(refusal("register_tile-s-nn-60x128x512-6x64x1"), "family-precision-transposes"));
  BOOST_TEST(holds(refusal("tile-s-nn-60x128x512-6x64x1-v16"), "'tile' is no family"));
  BOOST_TEST(holds(refusal("direct-x-nn-60x128x512-6x64x1-v16"), "'x' is no precision"));
  BOOST_TEST(holds(refusal("direct-s-nx-60x128x512-6x64x1-v16"), "'nx' is none of"));
  BOOST_TEST(holds(refusal("direct-s-n-60x128x512-6x64x1-v16"), "'n' is none of"));
  BOOST_TEST(holds(refusal("direct-s-nn-60x128-6x64x1-v16"), "'60x128' is not MLxNLxKL"));
  BOOST_TEST(holds(refusal("direct-s-nn-60x128x-1-6x64x1-v16"), "'60x128x' is not MLxNLxKL"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x99999999999-v1"), "'1x1x99999999999' is not MSxNSxKS"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-16"), "'16' is not vWIDTH"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v1-acol"), "'acol' is no parameter"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v1-"), "'' is no parameter"));
}

BOOST_AUTO_TEST_CASE(APointHasOneName) {
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v01"), "is written direct-s-nn-1x1x1-1x1x1-v1"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v1-split1"), "is written"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v1-driver"), "is written"));
  BOOST_TEST(holds(refusal("direct-s-nn-1x1x1-1x1x1-v1-split2-split3"), "is written"));
  BOOST_TEST(holds(refusal("stripe-s-nn-1x1x1-1x1x1-v1-bcbl-acbl"), "is written"));
}
