// A model file with bytes changed, and its checksums made to match, is a bandit or a DataError. The input is a list of
// changes (two bytes of position, one of value) to one of several good files; what the checksums are for is tested
// with the input as a file of its own.

#include "bandit/model_file.hpp"
#include "goblin/bandit/bandit.hpp"
#include "goblin/error.hpp"

#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <zlib.h>

namespace {

using goblin::Bandit;

std::vector<std::string> good_files() {
  std::vector<std::string> files;
  goblin::Names names;
  for (const char* name : {"a", "b", "c", "d"}) names.insert(name);
  const goblin::Graph graph(names, std::vector<goblin::Edge>{{0, 1}, {1, 2, 2.0}});
  const std::vector<goblin::NodeId> clusters{0, 0, 1, 1};
  const std::vector<double> context{0.5, -1.0};
  for (const goblin::Policy policy : goblin::all_policies) {
    for (const auto kind : {goblin::EngineKind::dense, goblin::EngineKind::sparse, goblin::EngineKind::local}) {
      auto bandit =
          Bandit::make(policy, graph, goblin::uses_clusters(policy) ? clusters : std::vector<goblin::NodeId>{},
                       {.dimension = 2, .hash = {.buckets = 8}, .engine = {.kind = kind}});
      for (int user = 0; user < 3; ++user) bandit.update(user, context, 1.0);
      char name[] = "goblin-fuzz-XXXXXX";
      ::close(::mkstemp(name));
      bandit.save(name);
      std::ifstream in(name, std::ios::binary);
      files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
      ::unlink(name);
    }
  }
  return files;
}

void put_number(std::string& file, std::size_t at, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) file[at + k] = static_cast<char>(value >> (8 * k));
}

std::uint32_t checksum(const char* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes), size));
}

std::optional<Bandit> loaded(const std::string& file) {
  try {
    return goblin::ModelFile::parse({file.data(), file.size()}, "fuzz");
  } catch (const goblin::DataError&) {
    return std::nullopt;
  }
}

void load(const std::string& file) {
  std::optional<Bandit> bandit = loaded(file);
  if (!bandit || bandit->user_count() == 0) return;
  const std::size_t dimension = bandit->options().dimension;
  const std::vector<double> nothing(2 * dimension, 0.0);
  (void)bandit->select(0, {nothing, dimension}, {}, goblin::Draw{});
  const std::vector<double> contexts(2 * dimension, 0.5);
  try {
    (void)bandit->select(0, {contexts, dimension}, {}, goblin::Draw{});
    bandit->update(0, std::span(contexts).first(dimension), 1.0);
  } catch (const std::invalid_argument&) {
    // Not a finding: the ridge in the file may be so small that these contexts are too long for it.
  }
  (void)bandit->select(0, {nothing, dimension}, {}, goblin::Draw{});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> files = good_files();
  load(std::string(reinterpret_cast<const char*>(data), size));
  if (size == 0) return 0;
  std::string file = files[data[0] % files.size()];
  for (std::size_t k = 1; k + 2 < size; k += 3) {
    const std::size_t at = 28 + (data[k] + 256U * data[k + 1]) % (file.size() - 28);
    file[at] = static_cast<char>(data[k + 2]);
  }
  put_number(file, 20, checksum(file.data() + 28, file.size() - 28), 4);
  put_number(file, 24, checksum(file.data(), 24), 4);
  load(file);
  return 0;
}
