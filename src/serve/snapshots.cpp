#include "serve/snapshots.hpp"

#include "goblin/error.hpp"
#include "serve/store_lock.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

/// The head of a model file, in hexadecimal; shorter if the file is.
std::string head_of(const std::filesystem::path& file) {
  std::array<char, 28> head{};
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), head.size());
  std::string text;
  for (std::ptrdiff_t k = 0; k < in.gcount(); ++k) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(head[static_cast<std::size_t>(k)]));
  }
  return text;
}

std::string line_of(Offset offset) { return fmt::format("snapshot {}", offset); }

}  // namespace

Snapshots::Snapshots(std::filesystem::path folder, Ledger ledger, std::function<void(std::string)> warn)
    : folder_(std::move(folder)), ledger_(std::move(ledger)), warn_(std::move(warn)) {
  std::filesystem::create_directories(folder_);
}

std::filesystem::path Snapshots::file(Offset offset) const { return folder_ / fmt::format("{}.goblin", offset); }

std::vector<Offset> Snapshots::files() const {
  std::vector<Offset> offsets;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".goblin") continue;
    const auto offset = number_named(entry.path().stem().string());
    if (offset && *offset != 0) offsets.push_back(*offset);
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

std::vector<Offset> Snapshots::offsets() const {
  std::vector<Offset> offsets = files();
  std::erase_if(offsets, [&](Offset offset) { return ledger_.remembered(line_of(offset)).empty(); });
  return offsets;
}

bool Snapshots::find_first() const {
  const std::string expected = ledger_.remembered(line_of(0));
  if (expected.empty()) {
    for (const Offset offset : files()) {
      if (warn_) warn_(fmt::format("{}: is no snapshot of this store, which is new", file(offset).string()));
    }
    return false;
  }
  if (!std::filesystem::exists(file(0)) && head_of(fresh()) == expected) {
    std::filesystem::rename(fresh(), file(0));
    sync_folder(folder_);
  }
  return true;
}

std::optional<Snapshots::Loaded> Snapshots::load_newest(Offset first, Offset last) const {
  std::vector<Offset> candidates = files();
  candidates.insert(candidates.begin(), 0);
  for (auto offset = candidates.rbegin(); offset != candidates.rend(); ++offset) {
    const std::filesystem::path path = file(*offset);
    const auto warn = [&](std::string_view reason) {
      if (warn_) warn_(fmt::format("{}: {}; an older snapshot is used, or the log", path.string(), reason));
    };
    if (*offset < first) break;
    const std::string expected = ledger_.remembered(line_of(*offset));
    if (expected.empty() || *offset > last) {
      warn("is no snapshot of this store");
    } else if (!std::filesystem::exists(path)) {
      warn("is missing");
    } else if (head_of(path) != expected) {
      warn("is not what was saved there");
    } else {
      try {
        return Loaded{.bandit = Bandit::load(path), .offset = *offset};
      } catch (const DataError& error) {
        warn(error.reason());
      }
    }
  }
  return std::nullopt;
}

void Snapshots::save(const Bandit& bandit, Offset offset) {
  bandit.save(fresh());
  ledger_.remember(line_of(offset), head_of(fresh()));
  std::filesystem::rename(fresh(), file(offset));
  sync_folder(folder_);
}

void Snapshots::keep_newest(std::size_t count) {
  std::vector<Offset> old = offsets();
  old.resize(old.size() - std::min(old.size(), count));
  for (const Offset offset : old) {
    std::filesystem::remove(file(offset));
    ledger_.remember(line_of(offset), {});
  }
}

}  // namespace goblin::serve
