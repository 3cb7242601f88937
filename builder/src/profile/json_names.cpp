#include "profile/json_names.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace clbake::builder {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostNames = 64;  // a profile has 22; the library takes time for the square of them

// Hears every name as the parser meets it, and stops at a wrong one.
class Names : public nlohmann::json_sax<Json> {
 public:
  const std::string& wrong() const { return wrong_; }

  bool start_object(std::size_t /*elements*/) override { return open(false); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(true); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    Level& level = levels_.back();
    const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
    const bool plain = std::none_of(name.begin(), name.end(), control);  // errors show names on terminals
    level.name = plain ? name : "?";
    if (!plain) return fail("is a name with a control character");
    if (!level.names.insert(name).second) return fail("is there twice");
    return level.names.size() <= kMostNames || fail("is one name too many");
  }

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(std::int64_t /*value*/) override { return value(); }
  bool number_unsigned(std::uint64_t /*value*/) override { return value(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return value(); }
  bool string(std::string& /*value*/) override { return value(); }
  bool binary(Json::binary_t& /*value*/) override { return value(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;  // the caller's to find
  }

 private:
  struct Level {
    bool list = false;
    std::size_t values = 0;  // of a list, that ended
    std::string name;        // of an object, the last one
    std::set<std::string> names;
  };

  bool open(bool list) {
    levels_.emplace_back().list = list;
    return true;
  }

  bool close() {
    levels_.pop_back();
    return value();
  }

  bool value() {
    if (!levels_.empty()) ++levels_.back().values;
    return true;
  }

  bool fail(const char* cause) {
    for (const Level& level : levels_) {
      if (level.list) {
        wrong_ += "[" + std::to_string(level.values) + "]";
      } else {
        wrong_ += (wrong_.empty() ? "" : ".") + level.name;
      }
    }
    wrong_ = wrong_.substr(0, 200) + ": " + cause;
    return false;
  }

  std::vector<Level> levels_;
  std::string wrong_;
};

}  // namespace

std::string check_names(const std::string& text) {
  Names names;
  Json::sax_parse(text, &names);
  return names.wrong();
}

}  // namespace clbake::builder
