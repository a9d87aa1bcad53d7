#include "release.hpp"

#include "goblin/error.hpp"
#include "goblin/graph/tab_file.hpp"

#include <array>
#include <memory>
#include <openssl/evp.h>
#include <stdexcept>

#include <fmt/format.h>

namespace goblin::app {
namespace {

constexpr std::array<KnownFile, 5> lastfm_files = {{
    {"artists.dat", "c173881362c6b28551368fecb3c0be5a6a30a6cd859e1f5775413dfe46d48648"},
    {"tags.dat", "e95175f259be4c0c47644ae23d66131cd6d5767142a1405000e79f5584691d70"},
    {"user_artists.dat", "001400dc3c7d2667fca6e4ea6dc6acc31a9dd28ad5cd0f74cea988c019934d3b"},
    {"user_friends.dat", "9a3a8f7fa5f5ec832335e5b58ed69a4cf27c6f6f6afcde62134810eea46445a7"},
    {"user_taggedartists.dat", "d31fe938fcfeed6f0059f37a36b156f63674d073fc2553e5cc9dc1595e365bc7"},
}};

constexpr std::array<KnownFile, 5> delicious_files = {{
    {"bookmark_tags.dat", ""},
    {"bookmarks.dat", ""},
    {"tags.dat", "5fdf13cbbbced512e2ec4cbe2cd6d9b8ba0763a0758472d3e8bff641e1dd8a39"},
    {"user_contacts.dat", "b369c9d1291285d75d7e56fc6931b1e1a613de92a52599219c6290910a4924d8"},
    {"user_taggedbookmarks.dat", ""},
}};

const std::array<Release, 2> releases = {{
    {"lastfm", "hetrec2011-lastfm-2k", "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
     lastfm_files},
    {"delicious", "hetrec2011-delicious-2k",
     "https://files.grouplens.org/datasets/hetrec2011/hetrec2011-delicious-2k.zip", delicious_files},
}};

std::string sha256_of(const std::filesystem::path& path) {
  auto in = open_file(path);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr);
  std::vector<char> block(std::size_t{1} << 16);
  do {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    EVP_DigestUpdate(digest.get(), block.data(), static_cast<std::size_t>(in.gcount()));
  } while (in);
  if (in.bad()) throw DataError(path.string(), 0, "the file cannot be read");
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(digest.get(), bytes.data(), &size);
  std::string text;
  for (unsigned int k = 0; k < size; ++k) text += fmt::format("{:02x}", bytes.at(k));
  return text;
}

}  // namespace

const Release& release_named(std::string_view name) {
  for (const Release& release : releases) {
    if (release.name == name) return release;
  }
  throw std::invalid_argument(fmt::format("dataset: '{}' (must be lastfm or delicious)", name));
}

FileCheck check_files(const std::filesystem::path& folder, const Release& release) {
  FileCheck check;
  for (const KnownFile& file : release.files) {
    const auto path = folder / file.name;
    if (!file.sha256.empty()) ++check.known;
    if (!std::filesystem::is_regular_file(path)) {
      check.missing.emplace_back(file.name);
    } else if (!file.sha256.empty() && sha256_of(path) != file.sha256) {
      check.changed.emplace_back(file.name);
    }
  }
  return check;
}

}  // namespace goblin::app
