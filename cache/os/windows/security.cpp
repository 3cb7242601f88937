#include "windows/security.hpp"

#include <aclapi.h>
#include <sddl.h>
#include <memory>
#include <vector>

namespace clbake::os::windows {
namespace {

using Sid = std::vector<std::uint8_t>;

// TokenUser, or TokenOwner: what new files belong to, for administrators their group.
Sid sid_of_process(TOKEN_INFORMATION_CLASS what) {
  HANDLE opened = nullptr;
  if (!::OpenProcessToken(::GetCurrentProcess(), TOKEN_QUERY, &opened)) return {};
  const Handle token(opened);
  DWORD size = 0;
  ::GetTokenInformation(token.get(), what, nullptr, 0, &size);
  std::vector<std::uint8_t> information(size);
  if (size == 0 || !::GetTokenInformation(token.get(), what, information.data(), size, &size)) return {};
  // Either structure begins with the pointer.
  PSID const sid = *reinterpret_cast<PSID*>(information.data());
  const auto* const bytes = static_cast<const std::uint8_t*>(sid);
  return Sid(bytes, bytes + ::GetLengthSid(sid));
}

// Empty for a text that is no SID.
Sid parsed(const std::string& text) {
  PSID sid = nullptr;
  if (!::ConvertStringSidToSidA(text.c_str(), &sid)) return {};
  const auto* const bytes = static_cast<const std::uint8_t*>(sid);
  Sid copy(bytes, bytes + ::GetLengthSid(sid));
  ::LocalFree(sid);
  return copy;
}

bool equal(const Sid& own, PSID other) {
  return !own.empty() && ::EqualSid(const_cast<std::uint8_t*>(own.data()), other) != 0;
}

// Accounts that may do everything anyway, and those that stand for the owner.
bool is_of_the_system(PSID sid) {
  for (const WELL_KNOWN_SID_TYPE type :
       {WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerSid, WinCreatorOwnerRightsSid}) {
    if (::IsWellKnownSid(sid, type)) return true;
  }
  return false;
}

constexpr DWORD kWriting = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |
                           GENERIC_WRITE | GENERIC_ALL;

// True when the list gives one of the rights to somebody else.
bool others_can(DWORD rights, PACL list, const Sid& user) {
  if (!list) return true;  // no list: all may do everything
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry = nullptr;
    if (!::GetAce(list, i, &entry)) return true;
    const auto* const header = static_cast<const ACE_HEADER*>(entry);
    if (header->AceType == ACCESS_DENIED_ACE_TYPE || header->AceFlags & INHERIT_ONLY_ACE) continue;
    if (header->AceType != ACCESS_ALLOWED_ACE_TYPE) return true;  // a kind that is not understood
    auto* const allowed = static_cast<ACCESS_ALLOWED_ACE*>(entry);
    PSID const sid = &allowed->SidStart;
    if ((allowed->Mask & rights) != 0 && !equal(user, sid) && !is_of_the_system(sid)) return true;
  }
  return false;
}

struct Security {
  DWORD error = ERROR_SUCCESS;
  PSID owner = nullptr;
  PACL list = nullptr;
  std::unique_ptr<void, HLOCAL (*)(HLOCAL)> memory{nullptr, ::LocalFree};  // which the others are in
};

Security security_of(HANDLE file) {
  Security security;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  security.error = ::GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                     &security.owner, nullptr, &security.list, nullptr, &descriptor);
  security.memory.reset(descriptor);
  return security;
}

bool is_user(PSID owner) { return equal(sid_of_process(TokenUser), owner) || equal(sid_of_process(TokenOwner), owner); }

}  // namespace

PrivateAccess::PrivateAccess() {
  attributes_.nLength = sizeof attributes_;
  const Sid user = sid_of_process(TokenUser);
  wchar_t* text = nullptr;
  std::wstring rights = L"D:P";
  if (!user.empty() && ::ConvertSidToStringSidW(const_cast<std::uint8_t*>(user.data()), &text)) {
    rights += std::wstring(L"(A;OICI;FA;;;") + text + L")(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";
    ::LocalFree(text);
  }
  ::ConvertStringSecurityDescriptorToSecurityDescriptorW(rights.c_str(), SDDL_REVISION_1,
                                                         &attributes_.lpSecurityDescriptor, nullptr);
}

PrivateAccess::~PrivateAccess() { ::LocalFree(attributes_.lpSecurityDescriptor); }

Result<std::string> sid_of_user(const std::string& name) {
  if (name.empty()) return std::string("S-1-5-18");
  if (!parsed(name).empty()) return name;
  const Result<std::wstring> wide = utf16(name);
  if (!wide) return wide.status();
  Sid sid(SECURITY_MAX_SID_SIZE);
  DWORD size = SECURITY_MAX_SID_SIZE, domain_size = 256;
  wchar_t domain[256];
  SID_NAME_USE use = SidTypeUnknown;
  wchar_t* text = nullptr;
  if (!::LookupAccountNameW(nullptr, wide->c_str(), sid.data(), &size, domain, &domain_size, &use) ||
      !::ConvertSidToStringSidW(sid.data(), &text)) {
    return {Code::io, "its owner should be '" + name + "': there is no such user"};
  }
  std::string found = narrow(text);
  ::LocalFree(text);
  return found;
}

bool is_own(HANDLE file) {
  const Security security = security_of(file);
  return security.error == ERROR_SUCCESS && is_user(security.owner);
}

bool others_can_read(HANDLE file) {
  const Security security = security_of(file);
  constexpr DWORD kReading = FILE_READ_DATA | WRITE_DAC | WRITE_OWNER | GENERIC_READ | GENERIC_ALL;
  return security.error != ERROR_SUCCESS || others_can(kReading, security.list, sid_of_process(TokenUser));
}

Status check_private(HANDLE file, const std::string& sid) {
  const Security security = security_of(file);
  if (security.error != ERROR_SUCCESS) return io_failure("its owner cannot be read", security.error);
  const Sid user = sid.empty() ? sid_of_process(TokenUser) : parsed(sid);
  const bool fit =
      sid.empty() ? is_user(security.owner) : equal(user, security.owner) || is_of_the_system(security.owner);
  if (!fit) return {Code::io, "belongs to another user: not used as an overlay"};
  if (others_can(kWriting, security.list, user)) {
    return {Code::io, "users other than its owner can write to it: not used as an overlay"};
  }
  return {};
}

Status check_trusted(HANDLE file) {
  PSID owner = nullptr;
  PACL list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD error = ::GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                        &owner, nullptr, &list, nullptr, &descriptor);
  if (error != ERROR_SUCCESS) return io_failure("its owner cannot be read", error);
  const std::unique_ptr<void, HLOCAL (*)(HLOCAL)> freed(descriptor, ::LocalFree);
  const Sid user = sid_of_process(TokenUser);
  const bool ours = equal(user, owner) || equal(sid_of_process(TokenOwner), owner) || is_of_the_system(owner);
  if (ours && !others_can(kWriting, list, user)) return {};
  return {Code::not_trusted, "users other than its owner can write to it, or it is another user's"};
}

}  // namespace clbake::os::windows
