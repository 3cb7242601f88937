// The files of a store of slices, for its writers. They take turns, so that what a killed one left can be told from
// what another one is writing; where the file system has no locks, or the lock is another user's, they do not.
#pragma once

#include <clbake/cache/model.hpp>
#include <clbake/os/lock.hpp>

#include <atomic>
#include <functional>
#include <optional>
#include <string>

namespace clbake::builder::release {

// The turn that this file of the store stands for, until the object ends; waits for it. Nothing where there are no
// locks. Fails with cancelled where `cancel`, which may be null, becomes true meanwhile.
Result<std::optional<os::LockFile>> take_turn(const std::string& lock_file, const std::atomic<bool>* cancel);

// Writes a file right in the store, unless it has these bytes already; true when it was written. Fails like
// cache::write_file and take_turn, and like `allowed`, which, unless it is empty, is asked when it is this writer's
// turn.
Result<bool> write_to_store(const std::string& store, const std::string& name, cache::ByteView bytes,
                            const std::atomic<bool>* cancel, const std::function<Status()>& allowed = {});

// Removes temporary files of killed writers; best effort. Those of indexes, which others write, too, and those of a
// store that other users may write to are removed when they are older than an hour.
void remove_leftovers(const std::string& store, const std::atomic<bool>* cancel);

}  // namespace clbake::builder::release
