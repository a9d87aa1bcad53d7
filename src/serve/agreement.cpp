#include "serve/agreement.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace goblin::serve {
namespace {

constexpr std::size_t most_kept = 64;  // offsets

}  // namespace

void Agreement::compare(Offset offset, std::uint64_t own, const Heard& other) {
  ++compared_;
  if (own == other.checksum || !disagreement_.empty()) return;
  disagreement_ = fmt::format(
      "the evidence up to record {} is not what \"{}\" has: {:016x} here and {:016x} there; stop one of the two, and "
      "start it with an empty store",
      offset, other.process, own, other.checksum);
}

void Agreement::found(Offset offset, std::uint64_t checksum) {
  const std::lock_guard lock(mutex_);
  found_[offset] = checksum;
  const auto [begin, end] = heard_.equal_range(offset);
  for (auto place = begin; place != end; ++place) compare(offset, checksum, place->second);
  while (found_.size() > most_kept) found_.erase(found_.begin());
}

void Agreement::heard(Offset offset, std::uint64_t checksum, const std::string& process) {
  const std::lock_guard lock(mutex_);
  const auto place = heard_.emplace(offset, Heard{.checksum = checksum, .process = process});
  if (const auto own = found_.find(offset); own != found_.end()) compare(offset, own->second, place->second);
  while (heard_.size() > most_kept) heard_.erase(heard_.begin());
}

bool Agreement::is_said(Offset offset, std::uint64_t checksum) const {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = heard_.equal_range(offset);
  return std::any_of(begin, end, [checksum](const auto& each) { return each.second.checksum == checksum; });
}

std::string Agreement::disagreement() const {
  const std::lock_guard lock(mutex_);
  return disagreement_;
}

std::size_t Agreement::compared() const {
  const std::lock_guard lock(mutex_);
  return compared_;
}

}  // namespace goblin::serve
