#pragma once

#include <filesystem>
#include <string>

namespace goblin::app {

struct FetchRequest {
  std::string dataset;
  std::string from;  ///< an archive or a URL; empty: where it is published
  bool unchecked = false;
};

/// Downloads (or takes) the archive of a dataset, unpacks it and puts the files into folder / (the release's name), all
/// of them or none. A download that breaks off goes on where it was, in this call and in the next. Gives a sentence
/// about what was done.
std::string fetch(const FetchRequest& request, const std::filesystem::path& folder);

/// Unpacks an archive into an empty folder. Throws DataError if it is damaged, or if an entry is a link or would leave
/// the folder.
void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder);

}  // namespace goblin::app
