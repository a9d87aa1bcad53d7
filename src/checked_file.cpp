#include "checked_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace goblin {
namespace {

constexpr std::size_t header_size = 28;
constexpr std::size_t checked_header_size = 24;

[[noreturn]] void fail_system(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// A new file beside the one to be written, which takes its name when it is whole and vanishes otherwise.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path) : path_(path), file_(open_new()) {
    if (!file_.is_open()) fail_system(fmt::format("{}: cannot be written", path.string()));
  }
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile() {
    if (!kept_) ::unlink(temporary_.c_str());
  }

  void append(const char* bytes, std::size_t size) {
    if (buffer_.size() + size > buffer_limit) flush();
    if (size > buffer_limit) {
      write_all(bytes, size);
    } else {
      buffer_.append(bytes, size);
    }
  }

  void overwrite_start(const std::string& bytes) {
    flush();
    if (::pwrite(file_.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail();
  }

  void keep() {
    flush();
    struct stat existing {};
    if (::stat(path_.c_str(), &existing) == 0 && ::fchmod(file_.get(), existing.st_mode & 07777U) != 0) fail();
    if (::fsync(file_.get()) != 0) fail();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    kept_ = true;
    const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
    const File directory(::open(folder.c_str(), O_RDONLY | O_CLOEXEC));
    if (directory.is_open()) ::fsync(directory.get());
  }

 private:
  static constexpr std::size_t buffer_limit = std::size_t{1} << 20;

  [[noreturn]] void fail() const { fail_system(fmt::format("{}: cannot be written", path_.string())); }

  /// A file that was not there before; another thread or process that writes the same file takes another name.
  int open_new() {
    for (int attempt = 0;; ++attempt) {
      temporary_ = fmt::format("{}.{}-{}", path_.string(), ::getpid(), attempt);
      const int descriptor = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
  }

  void write_all(const char* bytes, std::size_t size) {
    while (size > 0) {
      const ssize_t written = ::write(file_.get(), bytes, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes += written;
      size -= static_cast<std::size_t>(written);
    }
  }
  void flush() {
    write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

  std::filesystem::path path_;
  std::string temporary_;
  File file_;
  std::string buffer_;
  bool kept_ = false;
};

std::string header(const FileKind& kind, std::uint64_t length, std::uint32_t content_checksum) {
  std::string bytes;
  BinaryWriter out([&bytes](const char* from, std::size_t size) { bytes.append(from, size); });
  bytes.append(kind.magic.data(), kind.magic.size());
  out.number(kind.version);
  out.number(length);
  out.number(content_checksum);
  out.number(crc32_of(0, bytes));
  return bytes;
}

}  // namespace

std::uint32_t crc32_of(std::uint32_t before, std::span<const char> bytes) {
  if (bytes.empty()) return before;  // zlib starts anew where there are no bytes
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void write_checked_file(const std::filesystem::path& path, const FileKind& kind,
                        const std::function<void(BinaryWriter&)>& write_content) {
  AtomicFile file(path);
  file.append(std::string(header_size, '\0').data(), header_size);
  std::uint64_t length = 0;
  std::uint32_t sum = 0;
  BinaryWriter out([&](const char* bytes, std::size_t size) {
    file.append(bytes, size);
    sum = crc32_of(sum, {bytes, size});
    length += size;
  });
  write_content(out);
  file.overwrite_start(header(kind, length, sum));
  file.keep();
}

std::string checked_bytes(const FileKind& kind, const std::function<void(BinaryWriter&)>& write_content) {
  std::string bytes(header_size, '\0');
  BinaryWriter out([&bytes](const char* from, std::size_t size) { bytes.append(from, size); });
  write_content(out);
  const auto content = std::span<const char>(bytes).subspan(header_size);
  bytes.replace(0, header_size, header(kind, content.size(), crc32_of(0, content)));
  return bytes;
}

CheckedContent checked_content(std::span<const char> bytes, const std::string& name, const FileKind& kind) {
  const BinaryReader in(bytes, name);
  const std::size_t compared = std::min(bytes.size(), kind.magic.size());
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(compared), kind.magic.begin())) {
    in.fail(fmt::format("is not a goblin {}", kind.name));
  }
  if (bytes.size() < header_size) {
    in.fail(fmt::format("is truncated: {} bytes, and the header alone has {}", bytes.size(), header_size));
  }
  BinaryReader fields(bytes.subspan(kind.magic.size()), name);
  const auto file_version = fields.number<std::uint32_t>();
  const auto length = fields.number<std::uint64_t>();
  const auto content_checksum = fields.number<std::uint32_t>();
  if (fields.number<std::uint32_t>() != crc32_of(0, bytes.first(checked_header_size))) {
    in.fail("was altered: the checksum of its header does not match");
  }
  if (file_version > kind.version) {
    in.fail(fmt::format("is of a newer version, {}: this goblin reads up to version {}", file_version, kind.version));
  }
  if (file_version < kind.oldest) {
    in.fail(
        fmt::format("is of an older version, {}: this goblin reads from version {} on; learn again from the log, or "
                    "use the goblin that wrote it",
                    file_version, kind.oldest));
  }
  const auto content = bytes.subspan(header_size);
  if (content.size() < length) {
    in.fail(fmt::format("is truncated: {} of {} bytes are there", bytes.size(), header_size + length));
  }
  if (content.size() > length) in.fail(fmt::format("was altered: {} bytes too many", content.size() - length));
  if (crc32_of(0, content) != content_checksum) in.fail("was altered: the checksum of its content does not match");
  return {.version = file_version, .bytes = content};
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw DataError(path.string(), 0, fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw DataError(path.string(), 0, "is not a file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) throw DataError(path.string(), 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  bytes_ = {static_cast<const char*>(mapped), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace goblin
