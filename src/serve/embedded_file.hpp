#pragma once

#include <span>
#include <string_view>

namespace goblin::serve {

/// A file that was put into the program when it was built (goblin_embed_files in cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view path;  ///< below src/serve, "dashboard/index.html"
  std::string_view bytes;
  std::string_view sha256;  ///< of the bytes, in hexadecimal
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_files();
/// The file of that path; nullptr if there is none.
[[nodiscard]] const EmbeddedFile* embedded_file(std::string_view path);

}  // namespace goblin::serve
