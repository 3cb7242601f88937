// A learner that notes how it was started and what it is sent, in files beside the overlay that it is given. The name
// of that overlay says what it does: "deaf" reads nothing, "short" ends after a request.
#include <clbake/learn_request.hpp>

#include <clbake/os/environment.hpp>
#include <clbake/os/guest.hpp>
#include <clbake/os/messages.hpp>
#include <clbake/os/paths.hpp>
#include <clbake/os/program.hpp>

#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

namespace fs = std::filesystem;
namespace os = clbake::os;

constexpr std::size_t kMost = std::size_t{64} << 20;  // bytes of a message

// Waits for a message; empty at the end of the input.
std::string receive() {
  os::Received received;
  while (received.event == os::Received::Event::silence) received = os::receive_message(1000, kMost);
  return received.message;
}

// One line each: arguments, names of variables (of clbake with their values), open files, the session, the
// directory.
std::string start(int argc, char** argv) {
  std::string lines;
  const auto add = [&](const std::string& line) { lines += line + "\n"; };
  for (int i = 1; i < argc; ++i) add(std::string("argument ") + argv[i]);
  for (const auto& [name, value] : os::variables()) {
    add("variable " + (name.rfind("CLBAKE_", 0) == 0 ? name + "=" + value : name));
  }
#ifndef _WIN32
  for (int file = 0; file < 1024; ++file) {
    struct stat info = {};
    if (fstat(file, &info) == 0) add("file " + std::to_string(file));
  }
  add(getsid(0) == getpid() ? "leads its session" : "is in a session");
#endif
  add("directory " + os::working_directory());
  return lines;
}

// Whole at once, for a test that waits for it.
void write(const fs::path& path, const std::string& text) {
  fs::path temporary = path;
  temporary += "." + std::to_string(os::process_id());
  std::ofstream(temporary) << text;
  std::error_code ignored;  // the test has removed its directory
  fs::rename(temporary, path, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path overlay = os::native(argv[3]);
  const fs::path place = overlay.parent_path();
  const std::string lines = start(argc, argv);
  write(place / ("start-" + std::to_string(os::process_id())), lines);
  while (overlay.filename() == "deaf" && !fs::exists(place / "stop"))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
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
    write(place / ("request-" + std::to_string(os::process_id()) + "-" + std::to_string(count)), text);
    if (overlay.filename() == "short") break;
  }
  write(place / ("end-" + std::to_string(os::process_id())), "");
  return 0;
}
