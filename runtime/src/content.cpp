// Library::program by content.
#include <clbake/exceptions_to_status.hpp>
#include <clbake/program_text.hpp>

#include "library_state.hpp"
#include "load/content_programs.hpp"

namespace clbake {

std::shared_ptr<ContentPrograms> Library::State::content_programs() {
  const std::lock_guard<std::mutex> lock(contents_mutex);
  if (!contents) contents = std::make_shared<ContentPrograms>(setup, background, tally);
  return std::static_pointer_cast<ContentPrograms>(contents);
}

Result<LoadedProgram> Library::program(const ProgramText& text) const {
  State& s = *state_;
  enable_encoded_programs();
  Result<LoadedProgram> loaded = exceptions_to_status([&]() -> Result<LoadedProgram> {
    Result<Found> found = s.content_programs()->find(text);
    if (!found) return found.status();
    return LoadedProgram(std::make_shared<const LoadedProgram::State>(LoadedProgram::State{std::move(*found)}));
  });
  if (!loaded) s.policy.count_failure(loaded.status());
  return loaded;
}

Result<LoadedProgram> Library::program(const std::vector<std::string>& sources, const std::string& options) const {
  Result<ProgramText> text = exceptions_to_status([&]() -> Result<ProgramText> {
    return ProgramText{sources, {}, options, {}, {}};
  });
  return text ? program(*text) : text.status();
}

Result<Explanation> Library::explain_program(const ProgramText& text) const {
  return exceptions_to_status([&] { return state_->content_programs()->explain(text); });
}

}  // namespace clbake
