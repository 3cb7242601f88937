#include "fleet/outputs.hpp"

#include <clbake/builder/fleet/work.hpp>
#include <clbake/builder/tuning_file.hpp>

#include "process/text_file.hpp"

#include <filesystem>

namespace clbake::builder::fleet {
namespace {

constexpr std::uintmax_t kMaxTextBytes = std::uintmax_t{256} << 20;

PieceResult damaged(const Status& status) { return {PieceState::damaged, false, status.message()}; }

PieceResult look_at_bundle(const std::string& path) {
  const Result<Bundle> bundle = Bundle::open(path);
  if (!bundle) return damaged(bundle.status());
  const Status intact = bundle->verify();
  return intact ? PieceResult{PieceState::done, false, {}} : damaged(intact.within(path));
}

PieceResult look_at_profile(const std::string& path) {
  const Result<Tuning> tuning = read_tuning(path);
  if (!tuning) return damaged(tuning.status());
  if (!tuning->complete) return {PieceState::damaged, false, path + ": the tuning is not complete"};
  return {PieceState::done, false, {}};
}

// A page, or a report of tests in JUnit's form, which may name what failed.
PieceResult look_at_text(const std::string& path, const char* end) {
  const Result<std::string> text = read_text_file(path, kMaxTextBytes);
  if (!text) return damaged(text.status());
  const auto has = [&](const char* part) { return text->find(part) != std::string::npos; };
  if (!has(end)) return {PieceState::damaged, false, path + ": is not complete"};
  if (!has("<failure") && !has("<error")) return {PieceState::done, false, {}};
  return {PieceState::failed, false, path + ": names problems that the bundle does not serve"};
}

PieceResult look_at(Stage stage, const std::string& path) {
  switch (stage) {
    case Stage::tune:
    case Stage::profile: return look_at_profile(path);
    case Stage::bake:
    case Stage::merge: return look_at_bundle(path);
    case Stage::check: return look_at_text(path, "</testsuite");
    case Stage::report: return look_at_text(path, "</html>");
  }
  return {PieceState::damaged, false, "unknown stage"};
}

}  // namespace

PieceResult look_at(const Manifest& manifest, const Piece& piece) {
  const std::string path = manifest.directory + "/" + output_of(piece);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {PieceState::missing, false, path + ": is not there"};
  return look_at(piece.stage, path);
}

bool can_continue_from(Stage stage, const std::string& path) {
  if (stage == Stage::bake) return look_at_bundle(path).state == PieceState::done;
  return stage == Stage::tune && read_tuning(path);
}

}  // namespace clbake::builder::fleet
