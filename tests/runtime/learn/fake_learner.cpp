// A learner that notes how it was started and what it is sent, in files beside the overlay that it is given. The name
// of that overlay says what it does: "deaf" reads nothing, "short" ends after a request.
#include <clbake/learn_request.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

extern char** environ;

namespace {

namespace fs = std::filesystem;

// Waits for a message; empty at the end of the input.
std::string receive() {
  char byte = 0;
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (recvmsg(0, &header, 0) != 1 || !CMSG_FIRSTHDR(&header)) return {};
  int file = -1;
  std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof file);
  struct stat info = {};
  fstat(file, &info);
  std::string message(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t read = pread(file, message.data(), message.size(), 0);
  close(file);
  return read == info.st_size ? message : std::string();
}

// One line each: arguments, names of variables (of clbake with their values), open files, the session, the
// directory.
std::string start(int argc, char** argv) {
  std::string lines;
  const auto add = [&](const std::string& line) { lines += line + "\n"; };
  for (int i = 1; i < argc; ++i) add(std::string("argument ") + argv[i]);
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    add("variable " + (text.rfind("CLBAKE_", 0) == 0 ? text : text.substr(0, text.find('='))));
  }
  for (int file = 0; file < 1024; ++file) {
    struct stat info = {};
    if (fstat(file, &info) == 0) add("file " + std::to_string(file));
  }
  add(getsid(0) == getpid() ? "leads its session" : "is in a session");
  add("directory " + fs::current_path().string());
  return lines;
}

// Whole at once, for a test that waits for it.
void write(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + "." + std::to_string(getpid());
  std::ofstream(temporary) << text;
  std::error_code ignored;  // the test has removed its directory
  fs::rename(temporary, path, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path overlay = argv[3];
  const fs::path place = overlay.parent_path();
  const std::string lines = start(argc, argv);
  write(place / ("start-" + std::to_string(getpid())), lines);
  while (overlay.filename() == "deaf" && !fs::exists(place / "stop")) usleep(10000);
  for (int count = 0; overlay.filename() != "deaf"; ++count) {
    const std::string message = receive();
    if (message.empty()) break;
    const auto request = clbake::learn::decode(message);
    std::string text = request ? request->program + "\n" + request->directory : request.status().message();
    for (std::size_t i = 0; request && i < request->launches.size(); ++i) {
      const clbake::learn::SeenLaunch& launch = request->launches[i];
      text += "\n" + launch.kernel;
      for (const std::uint32_t extent : launch.local) text += " " + std::to_string(extent);
      text += std::string(launch.zero_offset ? "" : " offset") + (launch.small_grid ? "" : " large");
    }
    write(place / ("request-" + std::to_string(getpid()) + "-" + std::to_string(count)), text);
    if (overlay.filename() == "short") break;
  }
  write(place / ("end-" + std::to_string(getpid())), "");
  return 0;
}
