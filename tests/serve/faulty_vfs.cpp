#include "faulty_vfs.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <random>
#include <sqlite3.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace goblin::serve {

/// What a file would lose: what stood in a place before a write, the newest last.
struct FaultyVfs::State {
  struct Undo {
    sqlite3_int64 at;
    std::vector<char> before;   // what was there
    std::vector<char> written;  // what was written over it
    sqlite3_int64 size;         // of the file, before
  };

  sqlite3_vfs vfs{};
  sqlite3_vfs* below = nullptr;
  std::string name;
  std::mutex mutex;
  std::map<std::string, std::vector<Undo>> unsynced;
  std::atomic<int> failure = 0;
  std::atomic<bool> crashed = false;
};

namespace {

struct File {
  sqlite3_file base;
  FaultyVfs::State* state;
  std::string* path;
  sqlite3_file* below;  // lies behind this
};

File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

int close_file(sqlite3_file* file) {
  File& mine = of(file);
  const int code = mine.below->pMethods == nullptr ? SQLITE_OK : mine.below->pMethods->xClose(mine.below);
  delete mine.path;
  mine.path = nullptr;
  return code;
}
int read_file(sqlite3_file* file, void* out, int bytes, sqlite3_int64 at) {
  return of(file).below->pMethods->xRead(of(file).below, out, bytes, at);
}

/// Notes what a write takes away, and lets it through.
int write_file_part(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  File& mine = of(file);
  if (mine.state->failure != 0) return mine.state->failure;
  if (mine.state->crashed) return SQLITE_IOERR_WRITE;
  FaultyVfs::State::Undo undo{.at = at, .before = {}, .written = {}, .size = 0};
  mine.below->pMethods->xFileSize(mine.below, &undo.size);
  const sqlite3_int64 there = std::min<sqlite3_int64>(std::max<sqlite3_int64>(undo.size - at, 0), count);
  undo.before.resize(static_cast<std::size_t>(there));
  if (there > 0) mine.below->pMethods->xRead(mine.below, undo.before.data(), static_cast<int>(there), at);
  undo.written.assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + count);
  const std::lock_guard lock(mine.state->mutex);
  mine.state->unsynced[*mine.path].push_back(std::move(undo));
  return mine.below->pMethods->xWrite(mine.below, bytes, count, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  File& mine = of(file);
  if (mine.state->failure != 0) return mine.state->failure;
  if (mine.state->crashed) return SQLITE_IOERR_TRUNCATE;
  FaultyVfs::State::Undo undo{.at = size, .before = {}, .written = {}, .size = 0};
  mine.below->pMethods->xFileSize(mine.below, &undo.size);
  if (undo.size > size) {
    undo.before.resize(static_cast<std::size_t>(undo.size - size));
    mine.below->pMethods->xRead(mine.below, undo.before.data(), static_cast<int>(undo.before.size()), size);
  }
  const std::lock_guard lock(mine.state->mutex);
  mine.state->unsynced[*mine.path].push_back(std::move(undo));
  return mine.below->pMethods->xTruncate(mine.below, size);
}
int sync_file(sqlite3_file* file, int /*flags*/) {
  File& mine = of(file);
  if (mine.state->failure != 0) return mine.state->failure;
  if (mine.state->crashed) return SQLITE_IOERR_FSYNC;
  const std::lock_guard lock(mine.state->mutex);
  mine.state->unsynced.erase(*mine.path);  // on disk, as far as this layer goes
  return SQLITE_OK;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return of(file).below->pMethods->xFileSize(of(file).below, size);
}
int lock_file(sqlite3_file* file, int level) { return of(file).below->pMethods->xLock(of(file).below, level); }
int unlock_file(sqlite3_file* file, int level) { return of(file).below->pMethods->xUnlock(of(file).below, level); }
int check_lock(sqlite3_file* file, int* out) {
  return of(file).below->pMethods->xCheckReservedLock(of(file).below, out);
}
int control(sqlite3_file* file, int what, void* with) {
  return of(file).below->pMethods->xFileControl(of(file).below, what, with);
}
int sector(sqlite3_file* file) { return of(file).below->pMethods->xSectorSize(of(file).below); }
/// None of the promises that a disk may make: SQLite has to sync.
int characteristics(sqlite3_file* /*file*/) { return 0; }
int map_memory(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return of(file).below->pMethods->xShmMap(of(file).below, page, size, extend, out);
}
int lock_memory(sqlite3_file* file, int at, int count, int flags) {
  return of(file).below->pMethods->xShmLock(of(file).below, at, count, flags);
}
void memory_barrier(sqlite3_file* file) { of(file).below->pMethods->xShmBarrier(of(file).below); }
int unmap_memory(sqlite3_file* file, int remove) { return of(file).below->pMethods->xShmUnmap(of(file).below, remove); }

const sqlite3_io_methods methods = {
    2,           close_file,     read_file,    write_file_part, truncate_file, sync_file,       file_size,
    lock_file,   unlock_file,    check_lock,   control,         sector,        characteristics, map_memory,
    lock_memory, memory_barrier, unmap_memory, nullptr,         nullptr};

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
  auto* state = static_cast<FaultyVfs::State*>(vfs->pAppData);
  File& mine = of(file);
  std::memset(&mine, 0, sizeof(File));
  mine.state = state;
  mine.path = new std::string(path == nullptr ? "" : path);
  mine.below = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(File));
  std::memset(mine.below, 0, static_cast<std::size_t>(state->below->szOsFile));
  const int code = state->below->xOpen(state->below, path, mine.below, flags, out);
  if (code != SQLITE_OK) {
    delete mine.path;
    return code;
  }
  mine.base.pMethods = &methods;
  return SQLITE_OK;
}
int delete_file(sqlite3_vfs* vfs, const char* path, int sync) {
  auto* state = static_cast<FaultyVfs::State*>(vfs->pAppData);
  if (state->crashed) return SQLITE_IOERR_DELETE;
  const std::lock_guard lock(state->mutex);
  state->unsynced.erase(path);
  return state->below->xDelete(state->below, path, sync);
}

}  // namespace

FaultyVfs::FaultyVfs() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.below = sqlite3_vfs_find(nullptr);
  state.name = "faulty-" + std::to_string(reinterpret_cast<std::uintptr_t>(&state));
  state.vfs = *state.below;  // all that is not ours goes below
  state.vfs.pNext = nullptr;
  state.vfs.szOsFile = static_cast<int>(sizeof(File)) + state.below->szOsFile;
  state.vfs.zName = state.name.c_str();
  state.vfs.pAppData = &state;
  state.vfs.xOpen = open_file;
  state.vfs.xDelete = delete_file;
  sqlite3_vfs_register(&state.vfs, 0);
}

FaultyVfs::~FaultyVfs() { sqlite3_vfs_unregister(&state_->vfs); }

const std::string& FaultyVfs::name() const { return state_->name; }
void FaultyVfs::fail_with(int code) { state_->failure = code; }
void FaultyVfs::crash() { state_->crashed = true; }

void FaultyVfs::restore(unsigned seed) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  std::minstd_rand random(seed + 1);
  for (auto& [path, undos] : state.unsynced) {
    const int file = ::open(path.c_str(), O_RDWR);
    if (file < 0) continue;
    // All of it back first, then some of it again.
    for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) {
      if (!undo->before.empty()) (void)!::pwrite(file, undo->before.data(), undo->before.size(), undo->at);
      (void)!::ftruncate(file, undo->size);
    }
    for (const State::Undo& undo : undos) {
      if (seed == 0 || random() % 2 == 0 || undo.written.empty()) continue;
      (void)!::pwrite(file, undo.written.data(), undo.written.size(), undo.at);
    }
    ::close(file);
  }
  state.unsynced.clear();
  state.crashed = false;
  state.failure = 0;
}

}  // namespace goblin::serve
