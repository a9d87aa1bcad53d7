#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goblin::app {

struct KnownFile {
  std::string_view name;
  std::string_view sha256;  ///< empty where the checksum is not known, but the file is needed
};

/// A dataset as it is published.
struct Release {
  std::string_view name;    ///< as on the command line
  std::string_view folder;  ///< also the archive, with .zip
  std::string_view url;
  std::span<const KnownFile> files;
};

/// Throws std::invalid_argument if there is none of that name.
[[nodiscard]] const Release& release_named(std::string_view name);

/// How the files of a folder compare with those of the release.
struct FileCheck {
  std::size_t known = 0;             ///< files whose checksums are known
  std::vector<std::string> missing;  ///< names
  std::vector<std::string> changed;
};
[[nodiscard]] FileCheck check_files(const std::filesystem::path& folder, const Release& release);

}  // namespace goblin::app
