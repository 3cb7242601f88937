// Winners and rules from made-up measurements.
#include <clbake/builder/tuning.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace clbake::builder::test {
namespace {

// Sizes that rules may treat in different ways: all powers of two with their neighbours, and what no one multiplies.
std::vector<std::uint32_t> sample_sizes() {
  std::vector<std::uint32_t> sizes = {0, 1, 2, UINT32_MAX - 1, UINT32_MAX};
  for (unsigned bit = 2; bit < 32; bit += 2) {
    for (const std::uint32_t around : {0U, 1U, 2U}) sizes.push_back((std::uint32_t{1} << bit) + around - 1);
  }
  return sizes;
}

// A tuning to which measurements are added by name.
class Notes {
 public:
  Notes& time(const std::string& variant, const std::string& shape, double us, std::uint32_t runs = 9,
              double spread = 0.01, bool final = true) {
    tuning.measurements.push_back({index(tuning.variants, variant), shape_index(shape), us, spread, runs, final});
    return *this;
  }

  // As often and as it was timed in the first stages.
  Notes& glance(const std::string& variant, const std::string& shape, double us, std::uint32_t runs = 3) {
    return time(variant, shape, us, runs, 0.01, false);
  }

  const Tuning& fitted() {
    fit(tuning);
    return tuning;
  }

  Tuning tuning;

 private:
  static std::uint32_t index(std::vector<std::string>& list, const std::string& text) {
    const auto at = std::find(list.begin(), list.end(), text);
    if (at != list.end()) return static_cast<std::uint32_t>(at - list.begin());
    list.push_back(text);
    return static_cast<std::uint32_t>(list.size() - 1);
  }
  std::uint32_t shape_index(const std::string& text) {
    const Shape shape = *parse_shape(text);
    const auto at = std::find(tuning.shapes.begin(), tuning.shapes.end(), shape);
    if (at != tuning.shapes.end()) return static_cast<std::uint32_t>(at - tuning.shapes.begin());
    tuning.shapes.push_back(shape);
    return static_cast<std::uint32_t>(tuning.shapes.size() - 1);
  }
};

bool fits(const cache::Rule& r, const Shape& s, std::uint32_t m, std::uint32_t n, std::uint32_t k,
          std::uint32_t batch) {
  return r.precision == s.precision && r.trans_a == s.trans_a && r.trans_b == s.trans_b && r.m_min <= m &&
         m <= r.m_max && r.n_min <= n && n <= r.n_max && r.k_min <= k && k <= r.k_max && r.batch_min <= batch &&
         batch <= r.batch_max;
}

// The variant that the rules choose; empty when none fits.
std::string choice(const Tuning& tuning, const Shape& kind, std::uint32_t m, std::uint32_t n, std::uint32_t k,
                   std::uint32_t batch) {
  for (const cache::Rule& rule : tuning.rules) {
    if (fits(rule, kind, m, n, k, batch)) return tuning.variants.at(rule.variant);
  }
  return {};
}

std::string choice(const Tuning& tuning, const std::string& shape) {
  const Shape s = *parse_shape(shape);
  const auto size = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
  return choice(tuning, s, size(s.m), size(s.n), size(s.k), size(s.batch));
}

// Of a shape; empty when it has none.
std::string winner(const Tuning& tuning, const std::string& shape) {
  for (const Winner& w : tuning.winners) {
    if (tuning.shapes[w.figures.shape] == *parse_shape(shape)) return tuning.variants[w.figures.variant];
  }
  return {};
}

void check_covered(const Tuning& tuning, const std::string& kind) {
  const Shape shape = *parse_shape(kind + " 1x1x1");
  const std::vector<std::uint32_t> sizes = sample_sizes();
  std::size_t uncovered = 0;
  for (const std::uint32_t m : sizes) {
    for (const std::uint32_t n : sizes) {
      for (const std::uint32_t k : sizes) {
        for (const std::uint32_t batch : {0U, 1U, 2U, 3U, 1000U, UINT32_MAX}) {
          uncovered += choice(tuning, shape, m, n, k, batch).empty() ? 1 : 0;
        }
      }
    }
  }
  BOOST_TEST(uncovered == 0U, kind);
}

// Each of four variants is at its best in one corner: small, thin in m, thin in n, square.
Notes four_corners() {
  const std::map<std::string, std::string> best = {
      {"single nn 32x32x32", "small"},     {"single nn 64x64x64", "small"},       {"single nn 16x2048x2048", "flat"},
      {"single nn 64x2048x2048", "flat"},  {"single nn 2048x16x2048", "tall"},    {"single nn 2048x64x2048", "tall"},
      {"single nn 512x512x512", "square"}, {"single nn 2048x2048x2048", "square"}};
  Notes notes;
  for (const auto& [shape, fastest] : best) {
    for (const char* variant : {"small", "flat", "tall", "square"}) {
      notes.time(variant, shape, (variant == fastest ? 1 : 2) * operations(*parse_shape(shape)) / 1e5);
    }
  }
  return notes;
}

std::string text_of(const Tuning& t) {
  std::string text;
  for (const Winner& w : t.winners) text += w.shape_class + ' ' + t.variants[w.figures.variant] + '\n';
  for (const cache::Rule& r : t.rules) {
    for (const std::uint32_t value : {r.m_min, r.m_max, r.n_min, r.n_max, r.k_min, r.k_max, r.batch_min, r.batch_max}) {
      text += std::to_string(value) + ' ';
    }
    text += t.variants[r.variant] + '\n';
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(NothingMeasuredGivesNoWinnersAndNoRules) {
  Tuning empty;
  fit(empty);
  BOOST_TEST(empty.winners.empty());
  BOOST_TEST(empty.rules.empty());
  Notes notes;
  notes.tuning.shapes = {*parse_shape("single nn 5x5x5")};
  notes.tuning.variants = {"a"};
  BOOST_TEST(notes.fitted().winners.empty());
  BOOST_TEST(notes.tuning.rules.empty());
}

BOOST_AUTO_TEST_CASE(HowSlowACallWasThatWasTheLastOneCounts) {
  Notes notes;
  for (const char* shape : {"single nn 8x32x32", "single nn 32x8x32"})
    notes.time("even", shape, 13).time("wild", shape, 10);
  notes.time("even", "single nn 32x32x8", 10).time("wild", "single nn 32x32x8", 100, 1);
  BOOST_TEST(choice(notes.fitted(), "single nn 30x30x30") == "even");
  Notes mild;  // given up as well, but not so slow
  for (const char* shape : {"single nn 8x32x32", "single nn 32x8x32"})
    mild.time("even", shape, 13).time("wild", shape, 10);
  mild.time("even", "single nn 32x32x8", 10).time("wild", "single nn 32x32x8", 15, 1);
  BOOST_TEST(choice(mild.fitted(), "single nn 30x30x30") == "wild");
}

BOOST_AUTO_TEST_CASE(VariantsThatAreAlikeNeedOneRule) {
  Notes notes;
  for (const char* size : {"16", "64", "256", "1024"}) {
    const std::string shape = std::string("single nn ") + size + "x" + size + "x" + size;
    notes.time("a", shape, 100).time("b", shape, size[0] == '6' ? 99 : 101);
  }
  BOOST_TEST(notes.fitted().rules.size() == 1U);
}

// On the average of the cell there is little between them, and one of them is the rule everywhere else.
BOOST_AUTO_TEST_CASE(WhatWasSlowOnAShapeOfTheCellIsNoRuleForIt) {
  for (const double there : {107.0, 117.0}) {
    Notes notes;
    for (const char* shape : {"single nn 64x64x64", "single nn 256x256x256", "single nn 4096x4096x4096"}) {
      notes.time("broad", shape, 100).time("narrow", shape, 130);
    }
    notes.time("broad", "single nn 808x808x808", 100).time("narrow", "single nn 808x808x808", 108);
    notes.time("broad", "single nn 1024x1024x1024", there).time("narrow", "single nn 1024x1024x1024", 100);
    BOOST_TEST(choice(notes.fitted(), "single nn 1024x1024x1024") == (there > 110 ? "narrow" : "broad"), there);
    BOOST_TEST(choice(notes.tuning, "single nn 300x300x300") == "broad");
  }
}

BOOST_AUTO_TEST_CASE(FittingAgainReplacesTheEarlierResult) {
  Notes notes;
  notes.time("a", "single nn 512x512x512", 100);
  const std::string once = text_of(notes.fitted());
  BOOST_TEST(text_of(notes.fitted()) == once);
  BOOST_TEST(notes.tuning.winners.size() == 1U);
}

BOOST_AUTO_TEST_CASE(OneVariantServesEveryProblemOfItsKindAndNoOther) {
  Notes notes;
  notes.time("a", "double tn 512x512x512", 100);
  check_covered(notes.fitted(), "double tn");
  BOOST_TEST(winner(notes.tuning, "double tn 512x512x512") == "a");
  for (const char* other : {"double nn 512x512x512", "double tt 512x512x512", "single tn 512x512x512"}) {
    BOOST_TEST(choice(notes.tuning, other).empty(), other);
  }
}

BOOST_AUTO_TEST_CASE(EveryMeasuredShapeGetsItsClearWinner) {
  Notes notes = four_corners();
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(tuning.winners.size() == tuning.shapes.size());
  for (const Shape& shape : tuning.shapes) {
    BOOST_TEST(choice(tuning, name(shape)) == winner(tuning, name(shape)), name(shape));
  }
  BOOST_TEST(winner(tuning, "single nn 16x2048x2048") == "flat");
  check_covered(tuning, "single nn");
}

BOOST_AUTO_TEST_CASE(ShapesBetweenGetWhatIsGoodAroundThem) {
  Notes notes = four_corners();
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(choice(tuning, "single nn 48x40x50") == "small");
  BOOST_TEST(choice(tuning, "single nn 30x1800x1900") == "flat");
  BOOST_TEST(choice(tuning, "single nn 1900x30x1700") == "tall");
  BOOST_TEST(choice(tuning, "single nn 1000x900x1100") == "square");
  BOOST_TEST(choice(tuning, "single nn 100000x100000x100000") == "square");
}

BOOST_AUTO_TEST_CASE(EachKindHasRulesOfItsOwn) {
  Notes notes = four_corners();
  notes.time("transposed", "single nt 512x512x512", 100).time("square", "single nt 512x512x512", 300);
  notes.time("doubled", "double nn 512x512x512", 100);
  const Tuning& tuning = notes.fitted();
  for (const char* kind : {"single nn", "single nt", "double nn"}) check_covered(tuning, kind);
  BOOST_TEST(choice(tuning, "single nt 7x7x7") == "transposed");
  BOOST_TEST(choice(tuning, "double nn 7x7x7") == "doubled");
  BOOST_TEST(choice(tuning, "single nn 512x512x512") == "square");
}

BOOST_AUTO_TEST_CASE(RulesNameOnlyMeasuredVariantsAndFewOfThem) {
  Notes notes;
  std::mt19937 random(1);
  for (const char* size : {"16", "128", "1024"}) {
    for (const char* depth : {"16", "128", "1024"}) {
      const std::string shape = std::string("single nn ") + size + "x256x" + depth;
      for (int v = 0; v < 60; ++v)
        notes.time("v" + std::to_string(v), shape, 100.0 + static_cast<double>(random() % 100));
    }
  }
  notes.tuning.variants.push_back("never timed");
  const Tuning& tuning = notes.fitted();
  const std::vector<std::string> wanted = wanted_variants(tuning);
  BOOST_TEST(!wanted.empty());
  BOOST_TEST(wanted.size() <= 8U);
  BOOST_TEST((std::find(wanted.begin(), wanted.end(), "never timed") == wanted.end()));
  std::set<std::string> named;
  for (const cache::Rule& rule : tuning.rules) {
    BOOST_TEST(rule.variant < tuning.variants.size());
    named.insert(tuning.variants.at(rule.variant));
  }
  BOOST_TEST((std::set<std::string>(wanted.begin(), wanted.end()) == named));
  check_covered(tuning, "single nn");
}

BOOST_AUTO_TEST_CASE(NoiseIsNoDifference) {
  Notes notes;
  // On each shape another one is ahead by less than its times vary: one of them is enough.
  bool a_ahead = true;
  for (const char* shape : {"single nn 64x64x64", "single nn 512x512x512", "single nn 16x1024x1024"}) {
    notes.time("a", shape, a_ahead ? 100 : 103, 9, 0.1).time("b", shape, a_ahead ? 103 : 100, 9, 0.1);
    a_ahead = !a_ahead;
  }
  BOOST_TEST(wanted_variants(notes.fitted()).size() == 1U);
  BOOST_TEST(winner(notes.tuning, "single nn 64x64x64") == "a");
  BOOST_TEST(winner(notes.tuning, "single nn 512x512x512") == "b");
}

// What every bundle holds anyway keeps its place until something is clearly better.
BOOST_AUTO_TEST_CASE(DefaultVariantsComeFirst) {
  const std::string shipped = "register_tile-s-nn-256x128x512-8x32x1-v16";
  const std::string shape = "single nn 512x512x512";
  for (const auto& [other_us, winner] : {std::pair{98.5, shipped}, std::pair{80.0, std::string("other")}}) {
    Notes notes;
    notes.time("other", shape, other_us).time(shipped, shape, 100);
    BOOST_TEST(choice(notes.fitted(), shape) == winner);
  }
  Notes unknown;
  unknown.time("other", shape, 97).time("another", shape, 100);
  BOOST_TEST(choice(unknown.fitted(), shape) == "other");
}

BOOST_AUTO_TEST_CASE(WhatWasStoppedEarlyNeverWins) {
  Notes notes;
  notes.glance("hasty", "single nn 512x512x512", 10, 1).glance("steady", "single nn 512x512x512", 100);
  notes.glance("hasty", "single nn 64x64x64", 10, 1);
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(winner(tuning, "single nn 512x512x512") == "steady");
  BOOST_TEST(winner(tuning, "single nn 64x64x64").empty());
  BOOST_TEST((wanted_variants(tuning) == std::vector<std::string>{"steady"}));
  check_covered(tuning, "single nn");
}

BOOST_AUTO_TEST_CASE(WhereThereWasARaceOnlyRacersCompete) {
  Notes notes;
  notes.glance("lucky", "single nn 512x512x512", 50).time("sound", "single nn 512x512x512", 100);
  notes.time("second", "single nn 512x512x512", 110);
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(winner(tuning, "single nn 512x512x512") == "sound");
  BOOST_TEST(choice(tuning, "single nn 512x512x512") == "sound");
  BOOST_TEST(tuning.winners.at(0).figures.final);
}

BOOST_AUTO_TEST_CASE(BatchesHaveTheirOwnRules) {
  Notes notes;
  for (const char* shape : {"single nn 64x64x64", "single nn 512x512x512"}) {
    notes.time("single", shape, 100).time("batch", shape, 200);
  }
  notes.time("single", "single nn 64x64x64 batch 64", 200).time("batch", "single nn 64x64x64 batch 64", 100);
  const Tuning& tuning = notes.fitted();
  BOOST_TEST(choice(tuning, "single nn 64x64x64") == "single");
  for (const char* batch : {"2", "64", "2147483647"}) {
    BOOST_TEST(choice(tuning, std::string("single nn 64x64x64 batch ") + batch) == "batch", batch);
  }
  check_covered(tuning, "single nn");
}

// Though shapes around it outvote it.
BOOST_AUTO_TEST_CASE(WhatWasMuchSlowerThanAnotherIsOutEvenIfItIsExpectedToBeTheFastest) {
  for (const double there : {105.0, 117.0}) {
    Notes notes;
    for (const char* around : {"32", "128"}) {
      for (const char* depth : {"32", "64", "128"}) {
        const std::string shape = std::string("single nn ") + around + "x64x" + depth;
        notes.time("broad", shape, 100).time("narrow", shape, 200);
      }
    }
    notes.time("broad", "single nn 64x64x64", there).time("narrow", "single nn 64x64x64", 100);
    notes.time("broad", "single nn 4096x4096x4096", 200).time("narrow", "single nn 4096x4096x4096", 100);
    BOOST_TEST(choice(notes.fitted(), "single nn 64x64x64") == (there > 110 ? "narrow" : "broad"), there);
    BOOST_TEST(choice(notes.tuning, "single nn 32x64x64") == "broad");
  }
}

// Each serves one shape of many. Only "most" gains a little on several: too little for a further variant.
BOOST_AUTO_TEST_CASE(SomeVariantServesEvenIfNoneGainsMuch) {
  constexpr int kShapes = 220;
  Notes notes;
  for (int s = 0; s < kShapes; ++s) {
    const std::string shape = "single nn 64x64x" + std::to_string(s + 1);
    for (int v = 0; v < kShapes; ++v) notes.time("v" + std::to_string(v), shape, s == v ? 1 : 100, s == v ? 9 : 1, 0);
    notes.time("most", shape, s < 11 ? 6.6 : 100, s < 11 ? 9 : 1, 0);
  }
  check_covered(notes.fitted(), "single nn");
  BOOST_TEST(!wanted_variants(notes.tuning).empty());
}

// However many of the single products' variants gain a little there.
BOOST_AUTO_TEST_CASE(BatchesGetWhatTheyNeedBesides) {
  Notes notes;
  for (int i = 0; i < 8; ++i) {
    const std::string single = "single nn " + std::to_string(16 << i) + "x16x16";
    const std::string batched = "single nn 64x64x" + std::to_string(16 << i) + " batch 64";
    for (int v = 0; v < 8; ++v) {
      const std::string name = "v" + std::to_string(v);
      notes.time(name, single, v == i ? 100 : 200).time(name, batched, v == i ? 290 : 300);
    }
    notes.time("batch", batched, 100);
  }
  BOOST_TEST(choice(notes.fitted(), "single nn 64x64x64 batch 64") == "batch");
}

// It is in the bundle, so it costs nothing to use it.
BOOST_AUTO_TEST_CASE(WhatBatchesNeedServesSingleProductsToo) {
  Notes notes;
  // On one of many shapes: a gain that would not be worth a variant.
  notes.time("single", "single nn 256x16x16", 100).time("batch", "single nn 256x16x16", 85);
  for (const char* m : {"1000", "2000", "3000", "4000"}) {
    for (const char* n : {"1000", "2000", "3000", "4000", "5000"}) {
      const std::string shape = std::string("single nn ") + m + "x" + n + "x1000";
      notes.time("single", shape, 100).time("batch", shape, 150);
    }
  }
  BOOST_TEST(choice(notes.fitted(), "single nn 256x16x16") == "single");
  notes.time("single", "single nn 64x64x64 batch 64", 200).time("batch", "single nn 64x64x64 batch 64", 100);
  BOOST_TEST(choice(notes.fitted(), "single nn 256x16x16") == "batch");
  BOOST_TEST(choice(notes.tuning, "single nn 2000x2000x1000") == "single");
}

BOOST_AUTO_TEST_CASE(WithBatchesOnlyOrWithoutThemAllProblemsAreServed) {
  for (const char* shape : {"single nn 64x64x64 batch 64", "single nn 64x64x64"}) {
    Notes notes;
    notes.time("a", shape, 100);
    check_covered(notes.fitted(), "single nn");
  }
}

// As when a tuning was interrupted early.
BOOST_AUTO_TEST_CASE(ShapesWithoutCompleteMeasurementsAreServed) {
  for (const bool batches_known : {true, false}) {
    Notes notes;
    notes.time("a", batches_known ? "single nn 64x64x64 batch 64" : "single nn 64x64x64", 100);
    notes.glance("a", batches_known ? "single nn 64x64x64" : "single nn 64x64x64 batch 64", 100, 1);
    check_covered(notes.fitted(), "single nn");
  }
}

BOOST_AUTO_TEST_CASE(TheOrderOfMeasurementsDoesNotMatter) {
  Notes notes = four_corners();
  notes.glance("hasty", "single nn 512x512x512", 1, 1).time("batch", "single nn 64x64x64 batch 64", 100);
  notes.time("equal to square", "single nn 512x512x512", 2.0 * 512 * 512 * 512 / 1e5);
  const std::string once = text_of(notes.fitted());
  std::mt19937 random(1);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(notes.tuning.measurements.begin(), notes.tuning.measurements.end(), random);
    BOOST_TEST(text_of(notes.fitted()) == once);
  }
}

BOOST_AUTO_TEST_CASE(ClassesAreAsUsersSpeakOfThem) {
  const std::pair<const char*, const char*> wanted[] = {
      {"128x128x128", "small"},          {"1x1x1", "small"},          {"129x129x129", "square"},
      {"1024x256x512", "square"},        {"1024x255x512", "oblong"},  {"128x1024x1024", "thin-m"},
      {"1024x128x1024", "thin-n"},       {"1024x1024x128", "thin-k"}, {"16x16x1024", "thin-mn"},
      {"1024x16x16", "thin-nk"},         {"16x1024x16", "thin-mk"},   {"129x1024x1024", "oblong"},
      {"512x512x512 batch 2", "batched"}};
  for (const auto& [shape, wanted_class] : wanted) {
    BOOST_TEST(shape_class(*parse_shape(std::string("single nn ") + shape)) == wanted_class, shape);
  }
}

BOOST_AUTO_TEST_CASE(ShapesAreReadAsTheyAreWritten) {
  for (const char* text :
       {"single nn 1x2x3", "double tt 512x512x512", "half nt 2147483647x1x1", "single tn 4x5x6 batch 7"}) {
    const std::optional<Shape> shape = parse_shape(text);
    BOOST_REQUIRE(shape.has_value());
    BOOST_TEST(name(*shape) == text);
  }
  for (const char* text : {"", "single", "single nn", "float nn 1x2x3", "single n 1x2x3", "single nnn 1x2x3",
                           "single NN 1x2x3", "single nn 1x2", "single nn 1x2x3 batch", "single nn 1x2x3 batch 4 5"}) {
    BOOST_TEST(!parse_shape(text).has_value(), text);
  }
}

}  // namespace clbake::builder::test
