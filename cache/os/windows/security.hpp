// Who owns a file and who may write to it.
#pragma once

#include "windows/system.hpp"

namespace clbake::os::windows {

// Rights for the user of the process, and for the system's own accounts, which nothing is kept from. For one call that
// creates something. When the user cannot be told, nobody gets any.
class PrivateAccess {
 public:
  PrivateAccess();
  PrivateAccess(const PrivateAccess&) = delete;
  PrivateAccess& operator=(const PrivateAccess&) = delete;
  ~PrivateAccess();
  SECURITY_ATTRIBUTES* get() { return &attributes_; }

 private:
  SECURITY_ATTRIBUTES attributes_ = {};
};

// True when the open file or directory belongs to the user of the process. The handle needs READ_CONTROL.
bool is_own(HANDLE file);

// True when somebody else, the system's own accounts apart, may read the file, or that cannot be told. As above.
bool others_can_read(HANDLE file);

// The SID, as a text, of a user named so or by a SID; of an empty name that of the system. Fails with io.
Result<std::string> sid_of_user(const std::string& name);

// Ok when the open file or directory belongs to this user or to one of the system's own accounts; for an empty SID: to
// the user of the process. And when nobody else, the system's own accounts apart, may write to it. The handle needs
// READ_CONTROL. Fails with io; the message does not name it.
Status check_private(HANDLE file, const std::string& sid);

// Ok when it belongs to the user of the process or the system, and nobody else may write to it. The handle needs
// READ_CONTROL. Fails with not_trusted or io; the message does not name it.
Status check_trusted(HANDLE file);

}  // namespace clbake::os::windows
