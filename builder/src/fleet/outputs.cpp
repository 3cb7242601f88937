// Whether a piece is done: a look at its output.
#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/tuning_file.hpp>

#include "fleet/outputs.hpp"
#include "process/text_file.hpp"

#include <filesystem>

namespace clbake::builder {
namespace {

constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{256} << 20;

constexpr const char* kNotServed = ": names problems that the bundle does not serve";

std::string cause_of(const Status& status) { return status ? std::string() : status.message(); }

std::string fault_of_bundle(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return bundle.status().message();
  return cause_of(bundle->verify().within(path));
}

std::string fault_of_profile(const std::string& path) {
  const Result<Tuning> tuning = read_tuning(path);
  if (!tuning) return tuning.status().message();
  return tuning->complete ? "" : path + ": the tuning is not complete";
}

// A report of tests in JUnit's form that has no failure.
std::string fault_of_check(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kMaxTextBytes);
  if (!text) return text.status().message();
  if (text->find("</testsuite") == std::string::npos) return path + ": is not complete";
  if (text->find("<failure") == std::string::npos && text->find("<error") == std::string::npos) return {};
  return path + kNotServed;
}

std::string fault_of_report(const std::string& path) {
  const Result<std::string> text = read_text_file(path, kMaxTextBytes);
  if (!text) return text.status().message();
  return text->find("</html>") == std::string::npos ? path + ": is not complete" : "";
}

std::string fault_of(Stage stage, const std::string& path) {
  switch (stage) {
    case Stage::tune:
    case Stage::profile: return fault_of_profile(path);
    case Stage::bake:
    case Stage::merge: return fault_of_bundle(path);
    case Stage::check: return fault_of_check(path);
    case Stage::report: return fault_of_report(path);
  }
  return "unknown stage";
}

}  // namespace

PieceResult look_at(const Manifest& manifest, const Piece& piece) {
  const std::string path = manifest.directory + "/" + output_of(piece);
  std::error_code error;
  PieceResult result;
  result.cause = path + ": is not there";
  if (!std::filesystem::exists(path, error)) return result;
  result.cause = fault_of(piece.stage, path);
  const bool finding = piece.stage == Stage::check && result.cause.find(kNotServed) != std::string::npos;
  result.state = result.cause.empty() ? PieceState::done : finding ? PieceState::failed : PieceState::damaged;
  return result;
}

bool can_go_on_from(Stage stage, const std::string& path) {
  if (stage == Stage::bake) return fault_of_bundle(path).empty();
  return stage == Stage::tune && read_tuning(path);
}

}  // namespace clbake::builder
