#include "bandit/model_file.hpp"

#include "bandit/state.hpp"
#include "binary.hpp"
#include "graph/graph_binary.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace goblin {
namespace {

// As in PNG: a byte above 127 and both kinds of line end show a transfer that changed them.
constexpr std::array<char, 8> magic = {'\x89', 'G', 'O', 'B', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t version = 1;
constexpr std::size_t header_size = 28;
constexpr std::size_t checked_header_size = 24;

std::uint32_t checksum(std::uint32_t before, const char* bytes, std::size_t size) {
  if (size == 0) return before;  // zlib starts anew where there are no bytes
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes), size));
}

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

  /// A file that was not there before; another thread or process that writes the same model takes another name.
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

std::string header(std::uint64_t length, std::uint32_t content_checksum) {
  std::string bytes;
  BinaryWriter out([&bytes](const char* from, std::size_t size) { bytes.append(from, size); });
  bytes.append(magic.data(), magic.size());
  out.number(version);
  out.number(length);
  out.number(content_checksum);
  out.number(checksum(0, bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace

void ModelFile::write(const Bandit& bandit, const std::filesystem::path& path) {
  AtomicFile file(path);
  file.append(std::string(header_size, '\0').data(), header_size);
  std::uint64_t length = 0;
  std::uint32_t sum = 0;
  BinaryWriter out([&](const char* bytes, std::size_t size) {
    file.append(bytes, size);
    sum = checksum(sum, bytes, size);
    length += size;
  });
  write_content(bandit, out);
  file.overwrite_start(header(length, sum));
  file.keep();
}

Bandit ModelFile::read(const std::filesystem::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) throw DataError(path.string(), 0, fmt::format("cannot be opened: {}", std::strerror(errno)));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw DataError(path.string(), 0, "is not a file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return parse({}, path.string());
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) throw DataError(path.string(), 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  struct Unmap {
    void* address;
    std::size_t size;
    ~Unmap() { ::munmap(address, size); }
  } const unmap{mapped, size};
  return parse({static_cast<const char*>(mapped), size}, path.string());
}

Bandit ModelFile::parse(std::span<const char> bytes, const std::string& name) {
  BinaryReader in(bytes, name);
  if (bytes.size() < header_size) {
    in.fail(std::equal(bytes.begin(), bytes.begin() + std::min(bytes.size(), magic.size()), magic.begin())
                ? fmt::format("is truncated: {} bytes, and the header alone has {}", bytes.size(), header_size)
                : "is not a goblin model file");
  }
  if (!std::equal(magic.begin(), magic.end(), bytes.begin())) in.fail("is not a goblin model file");
  BinaryReader fields(bytes.subspan(magic.size()), name);
  const auto file_version = fields.number<std::uint32_t>();
  const auto length = fields.number<std::uint64_t>();
  const auto content_checksum = fields.number<std::uint32_t>();
  if (fields.number<std::uint32_t>() != checksum(0, bytes.data(), checked_header_size)) {
    in.fail("was altered: the checksum of its header does not match");
  }
  if (file_version > version) {
    in.fail(fmt::format("is of a newer version, {}: this goblin reads up to version {}", file_version, version));
  }
  const auto content = bytes.subspan(header_size);
  if (content.size() < length) {
    in.fail(fmt::format("is truncated: {} of {} bytes are there", bytes.size(), header_size + length));
  }
  if (content.size() > length) in.fail(fmt::format("was altered: {} bytes too many", content.size() - length));
  if (checksum(0, content.data(), content.size()) != content_checksum) {
    in.fail("was altered: the checksum of its content does not match");
  }
  BinaryReader reader(content, name);
  Bandit bandit = parse_content(reader);
  reader.expect(reader.left() == 0, "bytes after its end");
  return bandit;
}

void ModelFile::write_content(const Bandit& bandit, BinaryWriter& out) {
  const Bandit::State& state = *bandit.state_;
  const BanditOptions& options = state.options;
  out.text(name_of(state.policy));
  out.size(options.dimension);
  out.number(options.alpha);
  out.number(static_cast<std::uint8_t>(options.printed_bound ? 1 : 0));
  const PrintedBound bound = options.printed_bound.value_or(PrintedBound{});
  out.number(bound.noise);
  out.number(bound.delta);
  out.number(bound.norm);
  out.number(options.ridge);
  out.number(options.coupling);
  out.text(name_of(options.engine.kind));
  out.number(options.engine.tolerance);
  out.size(options.engine.max_iterations);
  save_graph(out, state.users.snapshot());
  out.array(state.clusters);
  state.evidence.save(out);
  out.size(state.rewards);
  out.size(state.unconverged_solves);
  out.number(state.log_determinant);
  out.size(state.components.size());
  for (const Component& component : state.components) {
    out.array(component.nodes);
    save_engine(out, *component.engine);
  }
}

Bandit ModelFile::parse_content(BinaryReader& in) {
  try {
    const Policy policy = policy_named(in.text());
    BanditOptions options;
    options.dimension = in.size();
    options.alpha = in.number<double>();
    const bool printed = in.number<std::uint8_t>() != 0;
    PrintedBound bound;
    bound.noise = in.number<double>();
    bound.delta = in.number<double>();
    bound.norm = in.number<double>();
    if (printed) options.printed_bound = bound;
    options.ridge = in.number<double>();
    options.coupling = in.number<double>();
    options.engine.kind = engine_kind(in.text());
    options.engine.tolerance = in.number<double>();
    options.engine.max_iterations = in.size();
    check_options(options);

    Graph users = load_graph(in);
    auto clusters = in.array<std::uint32_t>();
    in.expect(clusters.size() == (uses_clusters(policy) ? users.node_count() : 0), "the number of labels");
    Evidence evidence = Evidence::load(in);
    in.expect(evidence.dimension() == options.dimension, "the dimension of the evidence");
    const std::size_t node_count = evidence.node_count();
    if (policy == Policy::linucb_sin) {
      in.expect(node_count == 1, "the number of nodes");
    } else if (policy != Policy::gob_lin_macro) {
      in.expect(node_count == users.node_count(), "the number of nodes");
    }
    for (const NodeId label : clusters) {
      in.expect(label < std::max(node_count, users.node_count()), "a label");
      in.expect(policy != Policy::gob_lin_macro || label < node_count, "a label");
    }

    auto state = std::make_unique<Bandit::State>(policy, options, LiveGraph(std::move(users)), std::move(clusters),
                                                 std::move(evidence));
    state->rewards = in.size();
    state->unconverged_solves = in.size();
    state->log_determinant = in.number<double>();
    state->places.resize(node_count);
    const std::size_t component_count = in.size(node_count, "the number of components");
    std::vector<bool> seen(node_count, false);
    std::size_t seen_count = 0;
    for (std::size_t k = 0; k < component_count; ++k) {
      auto nodes = in.array<std::uint32_t>();
      for (const NodeId node : nodes) {
        in.expect(node < node_count && !seen[node], "a node of a component");
        seen[node] = true;
        ++seen_count;
      }
      auto engine = load_engine(in, options.dimension, state->prior(), options.engine);
      in.expect(engine->node_count() == nodes.size(), "the size of a component");
      state->add_component(std::move(nodes), std::move(engine));
    }
    in.expect(seen_count == node_count, "a node without a component");
    return Bandit(std::move(state));
  } catch (const std::invalid_argument& error) {
    in.fail(std::string("its content is inconsistent: ") + error.what());
  }
}

void Bandit::save(const std::filesystem::path& path) const { ModelFile::write(*this, path); }

Bandit Bandit::load(const std::filesystem::path& path) { return ModelFile::read(path); }

}  // namespace goblin
