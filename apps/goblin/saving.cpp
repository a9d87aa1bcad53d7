#include "saving.hpp"

#include "data_options.hpp"
#include "report.hpp"
#include "signals.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {

CLI::Option* add_save_option(CLI::App& command, std::string& path, const std::string& description) {
  return command.add_option("--save", path, description)->check(name_of_a("file"));
}

void check_can_be_saved(const std::string& path) {
  const auto fail = [&path](int error) {
    throw std::system_error(error, std::generic_category(), fmt::format("{}: cannot be written", path));
  };
  struct stat existing {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  if (path.ends_with('/') || (exists && S_ISDIR(existing.st_mode))) fail(EISDIR);
  if (exists && !S_ISREG(existing.st_mode)) fail(EINVAL);  // a device or a pipe would be replaced by a file
  const std::string temporary = fmt::format("{}.{}-0", path, ::getpid());
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno == EEXIST) return;  // what is left of another process; save takes another name
  if (descriptor < 0) fail(errno);
  ::close(descriptor);
  ::unlink(temporary.c_str());
}

void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write) {
  std::ofstream out(path, std::ios::binary);
  if (out) write(out);
  out.close();
  if (!out)
    throw std::system_error(errno, std::generic_category(), fmt::format("{}: cannot be written", path.string()));
}

NewFile::NewFile(std::filesystem::path path, const std::function<void(std::ostream&)>& write)
    : path_(std::move(path)), beside_(fmt::format("{}.{}-new", path_.string(), ::getpid())) {
  check_can_be_saved(path_.string());
  write_file(beside_, write);
}

NewFile::~NewFile() {
  std::error_code nobody_asks;
  std::filesystem::remove(beside_, nobody_asks);
}

void NewFile::keep() { std::filesystem::rename(beside_, path_); }

std::string save_early(const Bandit& bandit, const std::string& path, const Learned& learned) {
  if (path.empty()) return "";
  if (learned.nothing) return fmt::format("goblin: {}: not saved, because nothing was learned\n", path);
  bandit.save(path);
  return fmt::format("goblin: {}: saved, with everything up to {} {}\n", path, learned.unit, learned.count);
}

std::string save_after_failure(const Bandit& bandit, const std::string& path, const Learned& learned) {
  try {
    return save_early(bandit, path, learned);
  } catch (const std::exception& not_saved) {
    return fmt::format("goblin: {}\n", not_saved.what());
  }
}

void save_at_the_end(const Bandit& bandit, const std::string& path, const Learned& learned) {
  if (interrupted()) {
    const std::string saved = save_early(bandit, path, learned);
    report(fmt::format("goblin: {} after {} {}\n", name_of_signal(noted_signal()), learned.unit, learned.count));
    report(saved);
  } else if (!path.empty()) {
    bandit.save(path);
  }
}

void exit_after_signal() {
  if (interrupted()) throw CLI::RuntimeError(exit_code_of(noted_signal()));
}

}  // namespace goblin::app
