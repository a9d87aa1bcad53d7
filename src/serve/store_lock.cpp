#include "serve/store_lock.hpp"

#include "serve/log.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw LogError(fmt::format("{}: {}; the store needs a folder that it may write", path.string(),
                             std::generic_category().message(error)));
}

}  // namespace

StoreLock::StoreLock(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail(folder, error.value());

  const std::filesystem::path path = folder / "lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail(path, errno);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    std::array<char, 32> text{};
    const ssize_t length = ::read(file_, text.data(), text.size() - 1);
    ::close(file_);
    const std::string process(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    throw LogError(fmt::format("{}: another process{} uses this store; a store has one process at a time",
                               folder.string(), process.empty() ? process : fmt::format(" ({})", process)));
  }
  const std::string process = std::to_string(::getpid());
  // Only for the message above: a lock without a number is a lock, too.
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, process.data(), process.size(), 0) < 0) return;
}

StoreLock::~StoreLock() {
  if (file_ >= 0) ::close(file_);
}

void sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail(folder, errno);
  const int code = ::fsync(file);
  const int error = errno;
  ::close(file);
  if (code != 0 && error != EINVAL) fail(folder, error);  // some file systems have nothing to sync there
}

}  // namespace goblin::serve
