// Any bytes are an entry of a shared log or none; an entry comes back as it was.

#include "serve/entry.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <zlib.h>

namespace {

using namespace goblin::serve;

/// Reads it; what is an entry must be the same bytes again.
void read(std::string_view bytes) {
  try {
    const Entry entry = entry_of(bytes);
    const std::string again = bytes_of(entry);
    // Parts that have their usual value may be written out, and are left out again.
    if (again.size() > bytes.size() || bytes_of(entry_of(again)) != again) std::abort();
  } catch (const BadEntry& bad) {
    if (*bad.what() == '\0') std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  // With a checksum that fits, so that what is behind it is reached.
  std::string sealed(bytes);
  const auto checksum = static_cast<std::uint32_t>(::crc32_z(0, data, size));
  for (unsigned shift = 0; shift < 32; shift += 8) sealed += static_cast<char>(checksum >> shift);
  read(sealed);
  return 0;
}
