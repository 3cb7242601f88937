// after_power_loss() and write_disk() of faulty_calls.hpp.
#include "system/faulty_calls.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace clbake::tests {
namespace {

namespace fs = std::filesystem;
using Kind = FileChange::Kind;
using Bytes = std::vector<std::uint8_t>;

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A change of a name: null and 0 when it went.
struct Name {
  std::string path;
  int file;  // 0: none; -1: a directory
};

class Model {
 public:
  void apply(const FileChange& change) {
    switch (change.kind) {
      case Kind::create:
        bytes_[change.file] = synced_[change.file] = {};
        set(change.path, change.file);
        break;
      case Kind::write: {
        Bytes& all = bytes_[change.file];
        all.insert(all.end(), change.bytes.begin(), change.bytes.end());
        break;
      }
      case Kind::sync: synced_[change.file] = bytes_[change.file]; break;
      case Kind::rename: {
        const int file = names_.at(change.path);
        pending_.push_back({change.path, 0});  // both in one step: a file system's journal does not divide a rename
        pending_.push_back({change.to, file});
        names_.erase(change.path);
        names_[change.to] = file;
        break;
      }
      case Kind::unlink: set(change.path, 0); break;
      case Kind::make_directory: set(change.path, -1); break;
      case Kind::sync_directory: sync_directory(change.path); break;
      case Kind::acknowledged: break;
    }
  }

  Disk survivors(Survival survival, unsigned seed) const {
    std::mt19937 random(seed);
    std::map<std::string, int> names = survival == Survival::names ? names_ : durable_;
    if (survival == Survival::random_choice) {
      // A journal keeps the order of names: an arbitrary number of the first changes is there.
      std::size_t kept = random() % (pending_.size() + 1);
      if (kept > 0 && kept < pending_.size() && pending_[kept - 1].file == 0 && pending_[kept].file > 0) ++kept;
      for (std::size_t i = 0; i < kept; ++i) put(names, pending_[i]);
    }
    Disk disk;
    for (const auto& [path, file] : names) {
      if (file <= 0 || !is_reachable(names, path)) continue;
      Bytes bytes = synced_.at(file);
      const Bytes& written = bytes_.at(file);
      if (survival == Survival::random_choice && written.size() > bytes.size()) {
        bytes.assign(written.begin(), written.begin() + static_cast<std::ptrdiff_t>(random() % (written.size() + 1)));
      }
      disk[path] = std::move(bytes);
    }
    return disk;
  }

 private:
  static void put(std::map<std::string, int>& names, const Name& name) {
    if (name.file == 0) names.erase(name.path);
    if (name.file != 0) names[name.path] = name.file;
  }
  void set(const std::string& path, int file) {
    if (file == -1) made_.insert(path);
    pending_.push_back({path, file});
    put(names_, pending_.back());
  }
  void sync_directory(const std::string& directory) {
    std::vector<Name> rest;
    for (const Name& name : pending_) {
      const bool inside = directory_of(name.path) == directory;
      if (inside) put(durable_, name);
      if (!inside) rest.push_back(name);
    }
    pending_ = std::move(rest);
  }
  // True when the directories made meanwhile are on the disk themselves.
  bool is_reachable(const std::map<std::string, int>& names, const std::string& path) const {
    for (std::string at = directory_of(path); !at.empty(); at = directory_of(at)) {
      if (made_.count(at) > 0 && names.count(at) == 0) return false;
    }
    return true;
  }

  std::map<int, Bytes> bytes_, synced_;
  std::map<std::string, int> names_, durable_;
  std::vector<Name> pending_;  // not synced yet, in order
  std::set<std::string> made_;
};

}  // namespace

Disk after_power_loss(const std::vector<FileChange>& changes, std::size_t count, Survival survival, unsigned seed) {
  Model model;
  for (std::size_t i = 0; i < count; ++i) model.apply(changes[i]);
  return model.survivors(survival, seed);
}

void write_disk(const Disk& disk, const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  fs::permissions(to, fs::perms::owner_all);
  for (const auto& [path, bytes] : disk) {
    const fs::path target = to + path.substr(from.size());
    fs::create_directories(target.parent_path());
    fs::permissions(target.parent_path(), fs::perms::owner_all);
    std::ofstream(target, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write);
  }
}

}  // namespace clbake::tests
