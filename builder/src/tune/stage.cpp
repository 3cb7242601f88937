#include "tune/stage.hpp"

namespace clbake::builder {
namespace {

const char* word(Stage stage) {
  switch (stage) {
    case Stage::explore: return "explore";
    case Stage::range: return "range";
    case Stage::refine: return "refine";
    case Stage::final_race: break;
  }
  return "finals";
}

}  // namespace

std::string progress_name(const StageId& stage) { return word(stage.stage) + (' ' + kind_name(stage.kind)); }

std::string request_key(const StageId& stage, std::size_t number) {
  return progress_name(stage) + ' ' + std::to_string(number);
}

std::string race_key(std::size_t pass, const Shape& shape) {
  return word(Stage::final_race) + (' ' + std::to_string(pass)) + ' ' + name(shape);
}

std::string race_failure_key(std::size_t pass, const std::string& variant) {
  return "out " + std::to_string(pass) + ' ' + variant;
}

}  // namespace clbake::builder
