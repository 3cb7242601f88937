// Variables of the process. Reading is safe beside reading; changing them is for programs with one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace clbake::os {

// Nothing when it is not set.
std::optional<std::string> variable(const std::string& name);

// True when the process has more rights than the user who started it (setuid, setgid, capabilities), who must not
// choose by variables what it does. Never on Windows.
bool is_privileged();

// variable(), but nothing for a process that is_privileged().
std::optional<std::string> trusted_variable(const std::string& name);

// False when the system refuses the name or the value. In programs only.
bool set_variable(const std::string& name, const std::string& value);
bool unset_variable(const std::string& name);

// All of them, by name.
std::map<std::string, std::string> variables();

}  // namespace clbake::os
