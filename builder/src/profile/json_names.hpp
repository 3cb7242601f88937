// What the JSON library would let pass: of a name that stands twice in one object it keeps one and says nothing.
#pragma once

#include <string>

namespace clbake::builder {

// Where and why the names in a text's objects are wrong ("winners[3].shape: is there twice"): repeated, more than
// any object of ours has, or with control characters. Empty when they are not, and when the text is no JSON. The time
// it takes is proportional to the text.
std::string check_names(const std::string& text);

}  // namespace clbake::builder
