#include "serve/embedded_file.hpp"

#include <algorithm>

namespace goblin::serve {

const EmbeddedFile* embedded_file(std::string_view path) {
  const auto files = embedded_files();
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace goblin::serve
