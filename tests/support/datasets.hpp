#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

/// Where the datasets of the paper lie on machines that have them: the folder named by GOBLIN_DATA, or shared/data
/// beside the source folder.
namespace goblin::test {

constexpr const char* no_datasets = "no datasets: set GOBLIN_DATA to the folder that holds the dataset folders";

inline std::optional<std::filesystem::path> dataset_file(const std::filesystem::path& name) {
  const char* folder = std::getenv("GOBLIN_DATA");
  const auto root = folder != nullptr ? std::filesystem::path(folder)
                                      : std::filesystem::path(GOBLIN_SOURCE_DIR).parent_path() / "shared" / "data";
  const auto file = root / name;
  if (!std::filesystem::exists(file)) return std::nullopt;
  return file;
}

}  // namespace goblin::test
