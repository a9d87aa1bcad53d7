#include "serve/keys.hpp"

#include "goblin/error.hpp"

#include <algorithm>
#include <fstream>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr std::array<std::pair<std::string_view, Right>, 5> rights = {{{"decide", Right::decide},
                                                                       {"learn", Right::learn},
                                                                       {"edit", Right::edit},
                                                                       {"read", Right::read},
                                                                       {"admin", Right::admin}}};

int digit(char one) {
  if (one >= '0' && one <= '9') return one - '0';
  if (one >= 'a' && one <= 'f') return one - 'a' + 10;
  if (one >= 'A' && one <= 'F') return one - 'A' + 10;
  return -1;
}

Sha256 hash_of(std::string_view text, const std::string& file, std::size_t line) {
  Sha256 hash{};
  bool good = text.size() == 2 * hash.size();
  for (std::size_t byte = 0; good && byte < hash.size(); ++byte) {
    const int high = digit(text[2 * byte]);
    const int low = digit(text[2 * byte + 1]);
    good = high >= 0 && low >= 0;
    if (good) hash[byte] = static_cast<unsigned char>(16 * high + low);
  }
  // What stands there is not repeated: it may be the key itself.
  if (!good) {
    throw DataError(file, line,
                    "the second word is not a SHA-256 (must be 64 hexadecimal digits: printf %s KEY | sha256sum)");
  }
  return hash;
}

std::uint8_t rights_of(std::string_view text, const std::string& file, std::size_t line) {
  std::uint8_t all = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const auto* found =
        std::find_if(rights.begin(), rights.end(), [&](const auto& right) { return right.first == one; });
    if (found == rights.end()) {
      throw DataError(file, line,
                      fmt::format("'{}' is no right (must be decide, learn, edit, read or admin, with commas between "
                                  "several)",
                                  one));
    }
    all |= static_cast<std::uint8_t>(found->second);
    begin = end + 1;
  }
  return all;
}

}  // namespace

std::string_view name_of(Right right) {
  const auto* found = std::find_if(rights.begin(), rights.end(), [&](const auto& one) { return one.second == right; });
  return found == rights.end() ? "none" : found->first;
}

std::string hexadecimal(const Sha256& hash) {
  std::string text;
  for (const unsigned char byte : hash) text += fmt::format("{:02x}", byte);
  return text;
}

struct Sha256Hasher::State {
  EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(algorithm);
  }
};

Sha256Hasher::Sha256Hasher() : state_(std::make_unique<State>()) {}
Sha256Hasher::~Sha256Hasher() = default;

Sha256 Sha256Hasher::operator()(std::string_view text) {
  Sha256 hash{};
  unsigned size = 0;
  if (EVP_DigestInit_ex2(state_->context, state_->algorithm, nullptr) != 1 ||
      EVP_DigestUpdate(state_->context, text.data(), text.size()) != 1 ||
      EVP_DigestFinal_ex(state_->context, hash.data(), &size) != 1 || size != hash.size()) {
    throw std::runtime_error("SHA-256 cannot be computed");
  }
  return hash;
}

bool Keys::Key::may(Right right) const {
  return (rights & (static_cast<unsigned>(right) | static_cast<unsigned>(Right::admin))) != 0;
}

Keys Keys::read(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw DataError(file.string(), 0, "cannot be read");
  return read(in, file.string());
}

Keys Keys::read(std::istream& in, const std::string& file) {
  Keys keys;
  const Sha256 of_nothing = Sha256Hasher()("");
  std::string text;
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    std::istringstream words(text.substr(0, text.find('#')));
    Key key;
    std::string hash;
    std::string names;
    std::string more;
    if (!(words >> key.name)) continue;
    if (!(words >> hash >> names) || words >> more) {
      throw DataError(file, line, "must have three words: NAME SHA256 right,right,...");
    }
    key.hash = hash_of(hash, file, line);
    // A variable of a script that was empty. No caller could use it, and nobody would know why.
    if (key.hash == of_nothing) throw DataError(file, line, "is the SHA-256 of no text at all (the key was empty)");
    key.rights = rights_of(names, file, line);
    for (const Key& other : keys.keys_) {
      if (other.name == key.name) throw DataError(file, line, fmt::format("'{}' stands twice", key.name));
      if (other.hash == key.hash) throw DataError(file, line, fmt::format("is the same key as '{}'", other.name));
    }
    keys.keys_.push_back(std::move(key));
  }
  if (in.bad()) throw DataError(file, 0, "cannot be read to its end");
  if (keys.keys_.empty()) throw DataError(file, 0, "has no key in it (one line a key: NAME SHA256 right,right,...)");
  return keys;
}

const Keys::Key* Keys::find(const Sha256& hash) const {
  const Key* found = nullptr;
  for (const Key& key : keys_) {  // never stops early
    if (CRYPTO_memcmp(key.hash.data(), hash.data(), hash.size()) == 0) found = &key;
  }
  return found;
}

}  // namespace goblin::serve
